"""Triage in a clinic: health care professionals, patients, and what is done to them (the second domain of DeontiQA).

The paper does not describe this domain; its symbols are those of the published problems. Upstream they are used
in more ways than they are declared, and this theory allows the uses that the problems rest on:

* What is done to a patient is an action, `(obligatory (initiate-rehabilitation h p))`, and under the same name a
  predicate, which says that it is being done: `(initiate-rehabilitation h p)`.
* A treatment is a function, `(medication p)`, and a predicate, which says that the patient gets it.
* Consent is given or withdrawn to a treatment, and a treatment, not a consent, is what is administered.
"""

from itertools import chain

from critics.replay.sorts import ANY, SortedSignature
from critics.text.theories.deontic import MODALITIES

_STAFF = "healthcare-professional"

DEEDS = (
    "assign-red", "assign-orange", "assign-yellow", "assign-green", "perform-examination", "diagnose",
    "create-treatment-plan", "monitor-patient", "discharge-patient", "check-patient-history",
    "allocate-resources", "allocate-staff", "provide-hydration-nutrition", "initiate-rehabilitation",
    "provide-palliative-care", "assess-mental-health", "provide-mental-health-support",
    "provide-family-support", "initiate-life-support", "end-life-support",
)  # fmt: skip
"""Deeds of a professional to a patient: action and predicate."""
DUTIES = (
    "check-resources", "check-staff", "declare-emergency", "end-emergency", "check-equipment-availability",
)  # fmt: skip
"""Deeds of a professional without a patient: action only."""
TREATMENTS = ("medication", "surgery", "physical-therapy")
CONSENTS = ("consent-given", "consent-withdrawn")
CONDITIONS = (
    "red", "orange", "yellow", "green", "minor", "moderate", "severe", "critical", "stable-vitals",
    "unstable-vitals", "stable-condition", "critical-condition", "has-allergies", "no-allergies",
    "has-medical-history", "no-medical-history", "conscious", "unconscious", "mobile", "immobile", "infected",
    "not-infected", "pregnant", "not-pregnant", "stable-mental-state", "unstable-mental-state",
)  # fmt: skip
"""Predicates of a patient. Opposites such as mobile and immobile are two predicates, and not even related."""
POSTS = (
    "high-resources", "low-resources", "high-staff", "low-staff", "general-practitioner", "specialist", "nurse",
    "paramedic",
)  # fmt: skip
"""Predicates of a professional."""
BONDS = (
    "assigned-care", "not-assigned-care", "has-follow-up-plan", "no-follow-up-plan", "confidentiality-agreed",
    "confidentiality-not-agreed",
)  # fmt: skip
"""Predicates of a professional and a patient."""

SIGNATURE = SortedSignature(
    sorts={"action": ANY, "treatment": ANY, "equipment": ANY, "entity": ANY, _STAFF: "entity", "patient": "entity"},
    predicates={
        **MODALITIES,
        **dict.fromkeys((*CONDITIONS, *TREATMENTS), ("patient",)),
        **dict.fromkeys(POSTS, (_STAFF,)),
        **dict.fromkeys(chain(BONDS, DEEDS), (_STAFF, "patient")),
        **dict.fromkeys(CONSENTS, ("patient", "treatment")),
    },
    functions={
        **dict.fromkeys(DEEDS, ((_STAFF, "patient"), "action")),
        **dict.fromkeys(DUTIES, ((_STAFF,), "action")),
        **dict.fromkeys(TREATMENTS, (("patient",), "treatment")),
        "check-symptoms": (("patient",), "action"),
        "use-equipment": ((_STAFF, "patient", "equipment"), "action"),
        "administer-treatment": ((_STAFF, "patient", "treatment"), "action"),
    },
    constants={},
)
