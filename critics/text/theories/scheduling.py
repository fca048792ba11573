"""Managing a calendar: people and groups, events, invites and reminders, and fourteen actions (LogicGuide, appendix C).

A property of events is a predicate, `(private kickoff)`, and also an object of the sort `property`, so that an
action can name the property that it gives an event: `(change-visibility kickoff private)`.
"""

from critics.replay.sorts import ANY, SortedSignature
from critics.text.theories.deontic import MODALITIES

DURATIONS = ("short", "long")
RECURRENCES = ("daily", "weekly", "monthly", "yearly")
CATEGORIES = ("meeting", "conference", "social", "personal")
VISIBILITIES = ("public", "private", "confidential")
PROPERTIES = (*DURATIONS, *RECURRENCES, *CATEGORIES, *VISIBILITIES)
PRIORITIES = ("high", "low")
AVAILABILITIES = ("busy", "free", "tentative")
REMINDERS = ("none", "minutes-before", "hours-before", "days-before")

SORTS = {
    "action": ANY,
    "property": ANY,
    "event": ANY,
    "invite": ANY,
    "reminder": ANY,
    "entity": ANY,
    "person": "entity",
    "group": "entity",
}
ACTIONS = {
    "accept": ("invite",),
    "decline": ("invite",),
    "send-notification": ("invite",),
    "cancel-event": ("event",),
    "set-reminder": ("reminder",),
    "add-participant": ("event", "entity"),
    "remove-participant": ("event", "entity"),
    "delegate-event": ("event", "person"),
    "request-event-update": ("person", "event"),
    "suggest-alternative-time": ("person", "event"),
    "check-availability": ("person", "event"),
    "update-event": ("event", "property"),
    "reschedule-event": ("event", "property"),
    "change-visibility": ("event", "property"),
}
"""The fourteen kinds of actions with the sorts of what they are about."""

SIGNATURE = SortedSignature(
    sorts=SORTS,
    predicates={
        **MODALITIES,
        **dict.fromkeys(PROPERTIES, ("event",)),
        **dict.fromkeys((*PRIORITIES, *AVAILABILITIES), ("person", "event")),
        "organizer": ("event", "person"),
        "participant": ("event", "person"),
        "group-participant": ("event", "group"),
    },
    functions={
        **{name: (wanted, "action") for name, wanted in ACTIONS.items()},
        **dict.fromkeys(REMINDERS, (("person", "event"), "reminder")),
        "individual-invite": (("person", "event"), "invite"),
        "group-invite": (("group", "event"), "invite"),
    },
    constants=dict.fromkeys(PROPERTIES, "property"),
)
