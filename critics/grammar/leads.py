"""Closed lists of phrases by which models lead statements in, join them, cite them, and say that nobody knows."""

import re

ANY_CASE = re.IGNORECASE
SOURCE = (
    r"(?:(?:one of )?(?:the|our|these|those|this|that|another|one|a)? ?(?:given |provided |stated |above |"
    r"above-mentioned |same )*"
    r"(?:first |second |third |fourth |fifth |sixth |seventh |eighth |ninth |tenth |last |final |other |eleventh |"
    r"twelfth |\d{1,2}(?:st|nd|rd|th) )?"
    r"(?:premises?|rules?|facts?|information|statements?|context|passage|conditions?)"
    r"(?: (?P<numbers>\d{1,2}(?:(?:, and |, | and | & )\d{1,2})*))?(?: (?:in|from) the (?:premises|context))?"
    r"(?: (?:given|provided|above))?)"
)
SOURCE_AGAIN = re.sub(r"\(\?P<\w+>", "(?:", SOURCE)
ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),  # noqa: SIM905
        1,
    )
}
WE = r"(?:we|I|you|one)"
MANNER = (
    r"(?:(?:also|now|already|then|therefore|thus|hence|directly|definitely|clearly|further|can|could|may|do|only|"
    r"still|again|immediately|safely|logically|definitively|just) )*"
)
CONNECTIVE = re.compile(
    r"(?:(?P<infers>therefore|thus|hence|so|consequently|accordingly|as a result|as a consequence|it follows that|"
    r"then|this (?:means|implies|shows|tells us|indicates|leads to the conclusion|further supports|also means|also "
    r"implies|would mean|allows us to conclude|leads us to conclude)(?: that)?|which (?:means|implies|shows|tells "
    r"us)(?: that)?|that (?:means|implies)(?: that)?|it (?:also )?(?:means|follows|can be (?:concluded|inferred|"
    r"deduced))(?: from (?:this|that|the premises))?(?: that)?|in conclusion|to conclude|based on this|from this|"
    r"because of this|given this|with this information|by this|based on this (?:logic|reasoning))"
    r"|and|but|however|further|furthermore|moreover|additionally|in addition|also|next|now|finally|lastly|first|"
    r"firstly|secondly|"
    r"again|similarly|likewise|besides|on the other hand|in fact|indeed|specifically|in this case|here|second|third|"
    r"given (?:these|this|that|those|all this|all of this)(?: properties| facts| premises| information| conditions|"
    r" attributes)?|"
    r"(?:based on|from|with|using|combining|considering) (?:these|this|that|those)(?: two| three)?(?: properties|"
    r" facts| premises| information| conditions| statements| rules)?|"
    r"as such|unfortunately|by modus (?:ponens|tollens)|without (?:any )?(?:further|more|additional|"
    r"other) information|and that|that|for example|instead|still|yet|meanwhile|note that|it is also known that|"
    r"let's|well|initially|to start|to begin with|first of all|starting off|in particular|overall|in summary)"
    r"(?:,|:)? +",
    ANY_CASE,
)
KNOWS = re.compile(
    rf"(?:{WE} {MANNER}(?:(?P<infers>conclude|infer|deduce|derive|determine|establish|prove)"
    r"|say|see|find|confirm|state|know|have|are (?:told|given)|note|learn|understand|observe|notice|start (?:with|"
    r"from)|begin with|recall)"
    r"(?: (?:for sure|for certain|from this|directly|definitively|indeed))?,?"
    rf"(?:,? (?:from|by|based on|according to|in) {SOURCE},?)?"
    r"(?: the (?:fact|following|information|premise|rule|conclusion))?(?: that|:)?"
    r"|it is (?:also )?(?:given|known|stated|clear|said|directly stated|mentioned|true|evident|explicitly stated|a "
    r"fact)"
    r"(?: in the premises)? that|it(?:'s| is) (?:also )?(?P<shown>inferred|concluded|deduced) that"
    r"|there is (?:also )?(?:a|another|one) (?:premise|rule|fact) (?:that|which)(?: states| says| stating)?(?: that)?"
    r"|(?:we )?(?:then |also )?(?:use|apply|using|applying) the (?:premise|rule) that"
    r"|(?:it's|it is) (?:also |clearly |directly |explicitly )*(?:stated|given|mentioned|known|said)(?: in the "
    r"premises)? that"
    r"|(?:we have|there is) (?:a|another|one) (?:premise|rule) (?:directly )?(?:stating|saying|that states|that "
    r"says)(?: that)?,?"
    r"|note that|recall that|remember that|the fact that|(?:another|one|the other) (?:premise|rule) (?:is|says|"
    r"states|tells us) that) +",
    ANY_CASE,
)
FROM = re.compile(
    r"(?:from|by|according to|based on|given|using|looking at|if we (?:look at|consider)|following this with|"
    r"considering|in|as per|per|applying|with|as stated "
    r"(?:in|by)|as given in|as|following|because of|due to|and|combining|also from|thanks to|under|"
    rf"since) {SOURCE}(?P<quote>,? (?:that|stating that|which (?:states|says) that|saying that|stating|which "
    r"states))? *(?P<sep>,|:)? *",
    ANY_CASE,
)
STATES = re.compile(
    rf"{SOURCE} (?:also |then |directly |explicitly |further |clearly )?(?:states?|says?|tells? us|stated|implies|"
    r"imply|indicates?|gives? us|informs? us|mentions?)(?: that|:)? +",
    ANY_CASE,
)
BEHIND = re.compile(
    r" *(?:,? (?:from|by|according to|based on|as per|per|as stated (?:in|by)|as given (?:in|by)|because of|due to|"
    rf"given|as said in|in) {SOURCE}|[(\[](?:from |by |see |as per |according to |based on |given by |given in "
    rf")?{SOURCE_AGAIN}[)\]])$",
    ANY_CASE,
)
NOTHING = (
    r"(?:(?:direct or indirect|indirect|direct|specific|other|further|additional|more|explicit|clear|such|any|"
    r"enough|sufficient|no|actual|given|relevant|concrete|definitive) )*"
)
DATA = (
    r"(?:anything|premises? (?:that (?:directly )?)?(?:states?|stating|saying|says|tells? us|indicates?)|link|"
    r"relation(?:ship)?|mention|information|evidence|data|premises?|statements?|facts?|details|knowledge|rules?|"
    r"indication|mention|info|proof|way)"
)
ABOUT = re.compile(
    r"(?:,? ?\b(?:in the premises|given|provided|available|here|from the premises|directly|explicitly|definitively|"
    r"confidently|conclusively|definitive|conclusion|on this|the truth value|truth value|talks|refers|mentions|"
    r"links?|about|on|regarding|of|to|as to|for us to|that would|that could|that directly|stating|saying|indicating|"
    r"states|says|indicates|state|say|suggesting|which|concerning|us|determine|know|conclude|infer|support|tell us|"
    r"decide|deduce|confirm|prove|evaluate|judge|ascertain|figure out|verify|establish|the conclusion|the statement|"
    r"for certain|for sure|with certainty|based on the premises|from this|the information|be)\b)*,? *(?P<how>whether "
    r"or not|whether|if|that)?",
    ANY_CASE,
)
UNKNOWN = re.compile(
    rf"(?:{WE} {MANNER}(?:do not|don't|cannot|can't|can not|are unable to|are not able to|do not yet|don't yet|still "
    rf"don't|have no|lack) {MANNER}(?:have|find|see|know|determine|conclude|say|infer|be (?:sure|certain)|tell|"
    r"decide|deduce|state|confirm|establish|prove|evaluate|judge|definitively|make|draw|come to)?"
    rf"(?: ?{NOTHING}{DATA})?"
    rf"|there (?:is|are) (?:no|not any|not enough|not sufficient) {NOTHING}{DATA}"
    rf"|there's no {NOTHING}{DATA}|there (?:isn't|aren't) {NOTHING}{DATA}"
    r"|(?:none|neither) of (?:the|these|our)(?: other| given| provided| above)* (?:premises|rules|facts|statements|"
    r"conditions|information)(?: given| provided)?"
    r"(?: directly| explicitly| specifically)? (?:states?|says?|tells? us|provides?|mentions?|gives?|indicates?|"
    r"implies|imply|specif(?:y|ies)|shows?)"
    rf"(?: us)?(?: {NOTHING}{DATA})?"
    r"|(?:the|these|our)(?: other| given| provided| above)* (?:premises|rules|facts|statements|context|"
    r"information)(?: given| provided)? (?:do|does|did)(?: not|n't)"
    r"(?: directly| explicitly| specifically)? (?:state|say|tell us|provide|mention|give|indicate|imply|specify|"
    rf"show)(?: us)?(?: {NOTHING}{DATA})?"
    r"|nothing (?:is|was|in the premises)? ?(?:directly |explicitly )?(?:mentioned|stated|said|tells us|given|"
    r"indicates)"
    r"|it (?:does not|doesn't) (?:state|say|tell us|mention)"
    r"|(?:none|neither) of (?:the|these|our)(?: other| given| provided| above)* (?:premises|rules|facts|statements) "
    r"(?:directly )?(?:relates?|refers?) to"
    r"|it (?:is|remains|'s) (?:also |still |therefore |thus )?(?:uncertain|unclear|unknown|not known|not clear|not "
    r"certain|undetermined|not stated|not given|not mentioned|impossible to (?:say|tell|determine|know|conclude))"
    r"|it (?:is|was) not (?:directly |explicitly )?(?:stated|mentioned|given|specified|known)(?: in the premises)?"
    rf"|this (?:does not|doesn't) {MANNER}(?:tell us|say|mean|imply|determine|give us|provide us|provide)(?: "
    rf"(?:anything|{NOTHING}{DATA}))?)",
    ANY_CASE,
)
VALUES = {
    "true": "true", "correct": "true", "certain": "true", "valid": "true", "false": "false", "incorrect": "false",
    "wrong": "false", "not true": "false", "untrue": "false", "uncertain": "unknown", "unknown": "unknown",
    "undetermined": "unknown", "not certain": "unknown", "unclear": "unknown",
}  # fmt: skip
VALUE = (
    rf"(?:also |therefore |thus |indeed |definitely |actually |clearly |"
    rf"then )*(?P<value>{'|'.join(sorted(VALUES, key=len, reverse=True))})"
)
THING = (
    r"(?:the|this|our|that)(?: original| given| initial| final| evaluated)? (?:statement|conclusion|claim|"
    r"hypothesis|assertion|question|answer|sentence|proposition)"
)
JUDGED = re.compile(
    rf"(?:{THING}(?: (?P<that>that|of whether|whether|stating that))?,? *(?P<about>.*?),? *(?:is|would be|must be|"
    rf"has to be|remains|should be) {VALUE}"
    rf"|it (?:is|must be) {VALUE.replace('value', 'value2')} that (?P<about2>.+)"
    rf"|(?:answer|the answer(?: is)?|ANSWER) *:? *(?:is )?{VALUE.replace('value', 'value3')}"
    rf"|it is {VALUE.replace('value', 'value4')})",
    ANY_CASE,
)
AIM = re.compile(
    rf"(?:(?:{WE} )?(?:(?:want|need|are asked|have|are trying) )?to )?(?:evaluate|determine|check|find out|decide|"
    rf"see|know|prove|verify|assess|examine)"
    rf"(?: if| whether| the (?:statement|conclusion|claim)(?: that)?| that)? +(?P<about>.+)|{THING} (?:states|says|"
    rf"claims|asserts)(?: that)?,? +(?P<about2>.+)",
    ANY_CASE,
)
REFUTED = re.compile(
    rf"{THING}(?: (?:that|stating that))?,? *(?P<about>.*?),? *(?:is )?(?:directly |"
    rf"already )?(?P<how>contradicted by|contradicts|conflicts with|supported by|stated (?:in|as)|given (?:in|by))"
    rf" (?:{SOURCE}|this|what we know|our (?:findings|deduction|inference))",
    ANY_CASE,
)
CONTRADICTS = re.compile(
    rf"(?:this|that|which|it|this fact|this information|{THING})? ?(?:also |directly |clearly )?(?:contradicts|is in "
    r"contradiction (?:with|to)|is a contradiction (?:to|with)|conflicts with|is contrary to|is the opposite of|"
    rf"goes against|contrary to) {THING}?(?: (?:that|stating that|which states that|is that|of))?,? *(?P<about>.*)",
    ANY_CASE,
)
FILLER = re.compile(
    r"let(?:'s| us) (?:think|go|look|start|begin|analy[sz]e|consider|evaluate|see|break)"
    r"(?: (?:it|this|that|them|down|through|over|at|by|with|from|about|on|into|to|and|of|the|a|an|our|each|one|all|"
    r"step|steps|first|next|now|then|carefully|logically|more|closely|given|looking|thinking|analy[sz]ing|premises?|"
    r"rules?|facts?|information|context|problem|question|statement|conclusion|reasoning|what|we|know|have|can|"
    r"infer|deduce|conclude|determine|if|whether|is|are|it's|true|or|correct|here|relevant|provided))*,?|"
    r"(?:looking at|from|according to|based on|given|considering)? ?(?:the )?(?:premises|information|facts|"
    r"rules)(?: given| provided)?|"
    r"(?:and )?we need to (?:determine|find out|see|check) (?:this|that)|step \d+|answer|"
    r"(?:we|I) (?:have|now have) (?:enough|sufficient|all the) (?:information|premises)(?: to (?:answer|conclude|"
    r"decide|determine this|make a conclusion|draw a conclusion|evaluate the statement|determine the "
    r"(?:statement|conclusion)))?|"
    r"(?:we (?:do not|don't) have any|there (?:is|are) no) (?:more|other|further) (?:information|premises)",
    ANY_CASE,
)
JOINTS = re.compile(
    r"(?P<so>[,;]? (?:and )?(?:so|therefore|thus|hence|consequently)(?: that)?,? |, which (?:means|implies|"
    r"makes it so)(?: that)? |, (?:meaning|implying|indicating)(?: that)? )"
    r"|(?P<because>,? because |, since |, as (?!well))"
    r"|; |, but |, and |, however,? | and | but |, ",
    ANY_CASE,
)
APPOSITIVE = re.compile(
    r"(?P<name>[A-Z][a-z]+|[Tt]he [a-z]+(?: [a-z]+)?), (?:being|who is|which is|as (?:he|she|it) is|since (?:he|she|"
    r"it) is) (?P<what>[^,]+(?:, [^,]+)*?), (?P<rest>.+)"
)
KNOWN_FROM = re.compile(
    rf"{WE} {MANNER}(?:know|infer|conclude|deduce|see)(?: that)? (?:from|by) (?P<source>{SOURCE_AGAIN})"
    r",? (?P<quotes>(?:[\"'][^\"']{4,}[\"'](?:,? and (?:from )?(?:the premise )?|, )?)+),? that ",
    ANY_CASE,
)
TOPIC = re.compile(
    r"(?P<name>[A-Z][a-z]+|[Tt]he [a-z]+(?: [a-z]+)?) (?P<verb>not )?(?P<form>[a-z]+ing)\b *(?P<rest>.*)"
)
QUOTES = re.compile(
    r"[\"'](?P<said>[^\"]+?)[,.]?[\"'](?P<sep>,? and (?:from )?(?:the (?:premise|rule|fact)s?,? )?(?=[\"'])|"
    r", (?=[\"']))?"
)
