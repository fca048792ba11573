"""What comes from other people and goes to them: tables of rationales, exports, cards and the Hub."""
