"""Programs for solvers, in Logic-LM's languages: `rules`, `csp` and `logic-program`, their critics and checkers."""
