"""The closed lists of phrases that the reader knows: whatever is not here must be a claim, or is not read.

A phrase may stand here only if it says nothing that could be false: `therefore` may, `obviously by rule 3` may not.
What promises more, such as `the context says that`, is held to it (`QUOTES`, `GIVENS`, `DENIALS`).
"""

import re


def _listed(*phrases: str) -> str:
    return "|".join(phrases)


_COMMA = r"(?:[,:]? +|[,:]$|$)"
_THAT = r"(?: +that\b,?|:)?(?: +|$)"
_WE = r"(?:we|I|you|one)"
_ARE = r"(?:(?:we|I|you|one) +(?:are|were|have been)|we're|I'm)"
_CAN = r"(?:(?:can|may|could|must|now|then|also|thus|therefore|hence|have to) +){0,2}"

LEADS = re.compile(
    _listed(
        # Connectives: the claim that follows is judged whatever they promise.
        r"(?:and +)?(?:so|thus|therefore|hence|consequently|accordingly|as a result|as a consequence|ergo|\u2234)"
        + _COMMA,
        r"(?:and|but|then|also|next|finally|now|lastly|moreover|furthermore|additionally|in addition|again|however|here"
        r"|first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|first of all|to (?:begin|start)(?: with)?|after that"
        r"|similarly|likewise|in turn|indeed|okay|ok|alright|well|sure)" + _COMMA,
        r"(?:in (?:conclusion|summary|short|total)|to (?:conclude|summari[sz]e|sum up)|overall|all in all|conclusion"
        r"|in the end)" + _COMMA,
        r"step +\d{1,3}" + r"(?: *[:.)-] *| +|$)",
        r"(?:the +)?(?:final +|correct +)?answer *(?::|is +that) *",
        r"(?:given|from|using|based on|combining|putting) +(?:this|that|it|these|them|those)(?: +(?:together|two"
        r"|facts?|two facts|statements?|premises?|rules?|information|step))?(?: +together)?" + _COMMA,
        r"(?:the +)?(?:reasoning|solution|proof|explanation|inference|deduction|step-by-step reasoning|analysis)"
        r"(?: *: *| *$)",
        # What introduces a claim.
        rf"{_WE} +{_CAN}(?:also +)?(?:know|see|have|get|conclude|infer|deduce|derive|say|find|note|observe|notice)"
        + _THAT,
        rf"(?:which +)?(?:this|that|it|these|they|which)(?: +also)? +(?:means?|impl(?:y|ies)|shows?|tells? us|gives?"
        rf"(?: us)?|leads? to|proves?|entails?){_THAT}",
        rf"(?:it|this|from which it) +(?:also +|then +|therefore +|thus +|now +)?follows{_THAT}",
        rf"(?:please +)?(?:note|notice|recall|remember|observe){_THAT}",
        r"it +(?:is|must be|has to be)(?: +(?:also|thus|therefore|then))? +(?:the case|true|so|clear|known) +that +",
        r"it +(?:also +)?holds +that +",
    ),
    re.IGNORECASE,
)
"""Words that may stand before a claim and add nothing to it."""

CONCLUDES = re.compile(
    r"(?:and +|so +)?(?:(?:so|thus|therefore|hence|consequently|accordingly|as a result|as a consequence|ergo|\u2234)\b"
    r"|(?:given|from|using|based on|combining) +(?:this|that|it|these|them|those)\b(?! +(?:is|are|does|has)\b)"
    rf"|{_WE} +{_CAN}(?:also +)?(?:conclude|infer|deduce|derive)\b)",
    re.IGNORECASE,
)
"""Words that say that the claim is a conclusion: a premise of the context that was not said before is none."""
INFERS = re.compile(
    r"(?:and +|so +)?(?:(?:this|that|it|these|they|which)(?: +also)?"
    r" +(?:means?|impl(?:y|ies)|leads? to|proves?|entails?|shows?|demonstrates?"
    r"|establish(?:es)?|(?:tells?|gives?|shows?) us)"
    r"|(?:it|this)(?: +(?:also|then|therefore|thus|now))? +follows) +",
    re.IGNORECASE,
)
"""Words among them that say that the claim follows from the sentence before; a premise of the context is held to it."""

QUOTES = re.compile(
    _listed(
        rf"{_ARE}(?: +also)? +(?:told|given){_THAT}",
        rf"it +is +(?:also +)?given{_THAT}",
        # Attack: number a premise that is another one. The grammar holds numbers to the context.
        r"given *: *",
        r"(?:the|another|a) +(?:(?:next|other) +)?(?:rule|premise) +(?:says|states|tells us|is)"
        r"(?: +that\b,?|:)(?: +|$)",
        rf"the +(?:rule|premise) +(?:says|states|tells us){_THAT}",
        rf"it +is +(?:also +)?(?:stated|said){_THAT}",
        r"(?:according to|as (?:stated|given|said|mentioned) in|as per|in) +(?:the|our) +(?:given +)?"
        r"(?:context|problem|text|passage|premises|rules|facts|statement|information|story|puzzle)" + _COMMA,
        r"(?:the|our) +(?:given +)?(?:context|problem|text|passage|premises|rules|facts|story|puzzle)"
        rf"(?: +also)? +(?:says?|states?|tells? us|mentions?|gives?(?: us)?){_THAT}",
        r"(?:premises?|rules?) *: *",
    ),
    re.IGNORECASE,
)
"""Words that say that the claim stands in the context; there it must be found."""

GIVENS = re.compile(
    _listed(
        rf"(?:{_WE} +(?:can +)?(?:start|begin)|starting|beginning) +(?:with|from)"
        rf"(?: +the (?:fact|premise|rule))?{_THAT}",
        rf"{_WE} +already +(?:know|have|saw){_THAT}",
        rf"{_WE} +(?:have )?seen(?: +(?:above|earlier|before))?{_THAT}",
        r"(?:facts?|known) *: *",
    ),
    re.IGNORECASE,
)
"""Words that say that the claim need not be inferred: the context has it, or an earlier sentence."""

SHOWN = re.compile(
    rf"{_WE} +(?:(?:already|have) +)?(?:established|shown|showed|derived)(?: +(?:above|earlier|before))?{_THAT}",
    re.IGNORECASE,
)
"""Words that say that an earlier sentence inferred the claim."""

TAGS = re.compile(
    r" *[(\[](?:(?P<given>known|fact|already known|from (?:above|earlier|before))"
    r"|(?P<shown>already (?:shown|established)|(?:derived|shown|established|as shown) (?:above|earlier|before))"
    r"|(?P<quoted>given|premise|rule|stated|context"
    r"|(?:given |stated )?(?:in|from|by) the (?:context|text|problem|premises)))[)\]]$",
    re.IGNORECASE,
)
"""Words behind a claim that say that it is known."""

DENIALS = re.compile(
    _listed(
        r"it +is +(?:not +(?:the case|true|so)|false|untrue) +that +",
        r"it +isn't +(?:the case|true|so) +that +",
        r"it +cannot +be +(?:the case|true) +that +",
    ),
    re.IGNORECASE,
)
"""Words that deny the claim that follows."""

_PLAN = (
    rf"(?:(?:{_WE} +(?:(?:first|now|just) +)?(?:(?:need to|can|will|must|should|have to|shall) +)?"
    r"|let's +|let us +|I'll +|we'll +)(?:first +)?)?"
    r"(?:follow|trace|look at|use|apply|examine|consider|go through|go over|analy[sz]e|review|check|work through"
    r"|break (?:this|it|the problem) down|break down|list|identify|start with|begin with|derive|reason from)"
    r"(?: +(?:through +)?(?:the|these|our|all|what|a))?"
    r"(?: +(?:given|relevant|known|provided|stated|logical|following|key|initial|first|next))?"
    r"(?: +(?:rules?|facts?|premises?|statements?|information|context|chain|properties|relationships|implications"
    r"|steps?|problem|question|argument|we know|we are given|is given|facts and rules|chain of reasoning))?"
    r"(?: +(?:step[ -]by[ -]step|in order|carefully|one by one|logically|provided|given"
    r"|(?:about|of|to|for) (?-i:[A-Z][a-z]{0,19})(?= |$)"
    r"|(?:from|in) the context|(?:starting|beginning) (?:from|with)(?: what (?:we know|we are given|is given))?))*"
)

FILLERS = re.compile(
    _listed(
        _PLAN,
        r"let(?:'s| us) +break (?:this|it|the problem|the argument) down(?: +step[ -]by[ -]step)?",
        r"let(?:'s| us|s| me)? +(?:think|reason|work|go|solve|proceed|walk)(?: +(?:about|through))?"
        r"(?: +(?:this|it|the problem|the proof))?(?: +(?:step[ -]by[ -]step|logically|carefully|through))*",
        r"let(?:'s| us| me) +(?:see|begin|start)",
        r"(?:from|using|by|applying|given)(?: +(?:the|these|our))?(?: +(?:given|stated))?"
        r" +(?:rules|premises|facts|context|information|statements)",
        r"step[ -]by[ -]step",
        r"(?:here is|here's|this is|below is) +(?:the|my|our)(?: +step[ -]by[ -]step)? +(?:reasoning|solution|proof"
        r"|explanation|answer)",
        r"(?:the +)?(?:(?:step[ -]by[ -]step )?reasoning|solution|proof|explanation|conclusion|analysis|derivation)",
        r"(?:the +)?(?:(?:relevant )?(?:facts|premises|rules)|given|facts and rules|chain of thought)",
        r"(?:the +)?(?:final )?answer",
        rf"{_WE} +{_CAN}(?:reason|proceed|argue|solve this|solve it)(?: +as follows| +step[ -]by[ -]step)?",
        r"(?:okay|ok|sure|alright|great|qed|q\.e\.d|done)",
        r"step +\d{1,3}",
        r"\(?\d{1,3}[.):]?",
        # What a fence of markdown is of.
        r"text|txt|plaintext|markdown|md",
    )
    + r"|",
    re.IGNORECASE,
)
"""Sentences that say nothing."""

AIMS = re.compile(
    _listed(
        rf"(?:{_WE} +(?:now +)?(?:need|want|have|are asked|must|should|wish)(?: +to)?|let's|let us"
        r"|(?:our|the) (?:goal|task|aim) is to|to) *(?:(?:determine|decide|check|show|prove|find out|figure out|verify"
        r"|establish|evaluate|see|know|tell|say|consider|test) +(?:whether(?: +or not)?|if)"
        # Attack: `we must say that ..` of what was refuted.
        r"|(?P<aims>(?:check|show|prove|verify|establish) +that))"
        r"(?: +(?:the (?:statement|claim)|it is true that))?[: ]+",
        r"the +question +(?:is|asks|asks us)(?: +(?:whether|if))?[:, ]+",
        r"(?:question|query|statement|(?P<heads>goal|claim|to prove|prove|to show|hypothesis))(?: *: *)",
        r"the +(?:statement|question|query|(?P<claims>claim)|(?P<concludes>conclusion))"
        r"(?: +(?:to (?:check|decide|prove|verify|evaluate)|in question))? +is(?: *: *| +that +)",
    ),
    re.IGNORECASE,
)
"""Words that restate the question; the claim that follows must be what is asked. `concludes` says that it holds, and
the other groups say so where its denial was proved before."""
QUESTION_LEADS = re.compile(
    r"(?:(?:question|query) *: *)?(?:based on the above information, )?is the following statement true"
    r"(?:, false,? or unknown| or false)? *[?:]?",
    re.IGNORECASE,
)
"""The first sentence of a question in two."""
PLAN = re.compile(_PLAN, re.IGNORECASE)
"""The plan to answer the question, which may follow it."""
AIM_ENDS = re.compile(r"(?: +(?:is|are) +(?:true|true or false|true, false,? or unknown|correct)| +or not| +follows)+$")

SINCE = re.compile(
    r"(?:since|because|as|given(?: +that)?|(?:given|due to|from|by|using)(?: +the)? +(?:facts?|rules?|premises?"
    r"|statements?)(?: +that)?|from|by|using|knowing that"
    r"|based on(?: +the)?(?: +(?:facts?|rules?|premises?|statements?))?(?: +that)?)[: ]+",
    re.IGNORECASE,
)
BECAUSE = re.compile(
    r",? +(?:because|since|as|given that|due to the fact that|by the (?:fact|rule|premise)s? that) +", re.IGNORECASE
)
SO = re.compile(
    r"(?:[,;]? +| *- *)(?:(?:and +)?(?:so|thus|therefore|hence|consequently),? +"
    r"|which +(?:also +)?(?:means|implies|gives|shows)(?: +that)?(?: +us)? +"
    r"|(?:meaning|implying|(?:this +)?(?:means|implies))(?: +that)? +)"
    r"| *(?:\u2192|->|=>|==>) *",
    re.IGNORECASE,
)
_UNIT = r"(?:steps?|lines?|premises?|facts?|rules?|statements?|sentences?|points?|items?|numbers?|\(|\[)"
_NUMBERS = r"(?:\(?\d{1,3}\)?)(?:(?: *,? +and +| *, *| *& *| *\+ *)(?:\(?\d{1,3}\)?))*"
CITES = re.compile(
    rf"(?:from|by|using|given|combining|with|per|since)(?: +the)?(?: +{_UNIT})? *(?P<numbers>{_NUMBERS})[,:]? +",
    re.IGNORECASE,
)
CITED = re.compile(
    rf"(?:,? *[(\[] *(?:(?:from|by|using|via|see|of)? *)(?:the +)?{_UNIT}? *(?P<inner>{_NUMBERS}) *[)\]]"
    rf"|,? +(?:from|by|using|via)(?: +{_UNIT})? +(?P<outer>{_NUMBERS}))$",
    re.IGNORECASE,
)

_VALUE = (
    r"(?P<value>true|false|unknown|uncertain|undetermined|undecided|valid|invalid|yes|no|correct|incorrect|not true"
    r"|not false|not valid|not correct|neither true nor false|\(?[A-E]\)?(?: *[).:]\)? *\w+)?)"
)
_THING = (
    r"(?:(?:the|this|that|our)? *(?:given +|original +|final +|correct +|right +|above +)?"
    r"(?:statement|claim|conclusion|query|question|proposition|argument|hypothesis|sentence|answer|syllogism|solution"
    r"|verdict)(?: +to the question)?|it|this)"
)
_DENIES_ITSELF = (
    r"(?!(?:(?:this|that|our) +(?:\w+ +)?(?:answer|solution|verdict|conclusion)\W+(?:is|must be|should be)\W+(?:\w+ +)?"
    r"(?:false|invalid|incorrect|not (?:true|valid|correct))"
    r"|(?:the +)?(?:\w+ +)?(?:answer|solution|verdict) +(?:is|must be|should be) +(?:\w+ +)?"
    r"(?:incorrect|not (?:true|correct)))\b)"
)
"""Attack: `This answer is incorrect` denies what was proved; it is no answer `false`."""
ANSWERS = re.compile(
    rf"{_DENIES_ITSELF}(?:(?:{_THING})(?: +(?:is|must be|should be|has to be)"
    r"(?: +(?:also|therefore|thus|then|logically|indeed))? *:? *| *[:=] *))?"
    rf"[\"']?{_VALUE}[\"']?",
    re.IGNORECASE,
)
ABOUT = re.compile(
    r"(?:(?:the|this)? *(?:statement|claim|conclusion|sentence|proposition|argument)(?: +that)?[:,]? +)?"
    r"[\"']?(?P<claim>[^\"]+?)[\"']?,? +is"
    r" +(?P<value>true|false|unknown|uncertain|correct|incorrect|not true|valid|invalid)",
    re.IGNORECASE,
)
YES = re.compile(r"(?P<value>yes|no|true|false)[,:;-]+ +", re.IGNORECASE)
UNDECIDED = re.compile(
    r"(?:it|this|that|the answer|the statement|the truth of the statement) +(?:cannot|can't|can not|could not) +be +"
    r"(?:determined|decided|known|proved|inferred)(?: +from +(?:the|this) +(?:context|information|given information))?",
    re.IGNORECASE,
)
EXHAUSTED = re.compile(
    r"(?:nothing +(?:more|else|further)|no +(?:further|other|more|new) +(?:facts?|conclusions?|statements?)) +"
    r"(?:follows|can be (?:inferred|derived|deduced|concluded))(?: +from (?:this|these|the context))?",
    re.IGNORECASE,
)
ASSUMES = re.compile(
    r"(?:(?:let's|let us|we|now)? *(?:assume|suppose|imagine)(?: +for contradiction)?(?: +that)?,?) +", re.IGNORECASE
)
CONTRADICTS = re.compile(
    r"(?:(?:but +)?(?:this|that|which|it)(?: +is)? +(?:contradicts|a contradiction|contradicting|impossible|conflicts)"
    r"(?: +with)?(?: +(?:the fact|our knowledge|the context|the statement))?(?: +that|to)?|contradiction)(?:[:,]? *)",
    re.IGNORECASE,
)

NO_VALUE = {
    "uncertain": "unknown", "undetermined": "unknown", "undecided": "unknown", "neither true nor false": "unknown",
    "correct": "true", "incorrect": "false", "not true": "false", "not false": "true", "not correct": "false",
    "not valid": "invalid",
}  # fmt: skip
"""Other words for the values."""
