"""English words that name neither a property nor an object: a text that uses one says more than it seems to."""

from critics.replay.formula import RESERVED_NAMES

FUNCTION_WORDS = RESERVED_NAMES | frozenset(
    """
    a an the this that these those every each all some any no none both either neither another other such
    everything everyone everybody nobody anything anyone anybody something someone somebody
    and or nor but if unless then than as because so never always often sometimes seldom only just except
    is are was were be been being has have had do does did i you he she it we they there here
    who whom whose which what when where while until
    his hers its ours yours theirs mine of in on at by for from to with without about into
    most more many much few fewer less least several almost perhaps maybe quite rather very too also still yet
    again one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
    dozen dozens hundreds thousands millions zero nought naught nil noone whoever whatever whichever ones oneself
    himself herself itself themself themselves myself yourself ourselves yourselves
    my our your their him her us them me thee thou thy ye
    can could may might must shall should will would cannot
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
)
QUANTIFYING_WORDS = frozenset({
    "average", "certain", "countless", "enough", "half", "insufficient", "myriad", "normal", "numerous", "plenty",
    "same", "sufficient", "sundry", "typical", "umpteen", "various",
})  # fmt: skip
"""Adjectives that quantify: `Numerous cats are dogs` says nothing about every member of a kind."""
EMPTY_WORDS = (
    FUNCTION_WORDS
    | QUANTIFYING_WORDS
    | frozenset(
        """
    people person thing things since although though whereas whenever whether otherwise hence thus therefore
    however instead rarely usually frequently even already now today tomorrow yesterday soon later once twice
    everywhere nowhere ever forever anymore thrice sometime somewhat indeed nevertheless nonetheless meanwhile
    afterwards beforehand well better best worse worst alone together altogether enough non am having doing done
    ought used me him us them my your our their itself himself herself themselves why how onto near like
    unlike under over above below behind before after between beside besides beyond against among across along
    around through during within inside outside off up down out zero twenty thirty forty fifty million dozens
    hundreds thousands true false unknown impossible possible likely unlikely
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
    )
)
"""Words that name neither a property nor a relation nor an object: what uses one is outside a regular language."""
