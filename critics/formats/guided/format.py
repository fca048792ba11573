"""The format `guided`: LogicGuide's text, judged by the Horn kernel."""

from critics.formats.format import Format
from critics.problem import Attempt, Problem
from critics.replay.cursor import ReasonedError
from critics.text.part import Formalisation, TextStep, of_statements
from critics.verdict import Verdict


class Guided(Format):
    """Blocks `[[axiom:..]]`, `[[goal:..]]`, `[[infer:..]]` among sentences, and an answer."""

    is_quick = True
    is_replayed = True
    is_held_to_text = True
    is_text = True
    states_premises = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.guided.critic import judge_guided

        return judge_guided(problem, attempt)

    def theory(self, attempt: Attempt) -> Formalisation | None:
        from critics.replay.formula import parse_literal, parse_statement
        from critics.text.blocks import split_blocks

        try:
            blocks = split_blocks(attempt.completion)
            goals = [block.content for block in blocks if block.action == "goal"]
            axioms = [parse_statement(block.content) for block in blocks if block.action == "axiom"]
            return of_statements(axioms, parse_literal(goals[0])) if len(goals) == 1 else None
        except ReasonedError:
            return None

    def steps_of(self, problem: Problem, answer: str) -> tuple[TextStep, ...]:
        from critics.text.pieces import pieces

        try:
            cut = [piece for piece in pieces(answer) if piece.is_step]
        except ReasonedError:
            return ()
        return tuple(TextStep(piece.start, piece.end, answer[piece.start : piece.end]) for piece in cut)


FORMAT = Guided()
