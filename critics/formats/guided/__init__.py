"""The format `guided`: LogicGuide's text, judged by the Horn kernel."""
