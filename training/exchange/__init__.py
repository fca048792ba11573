"""Exchange with other people: tables of rationales, exports, cards and the Hub."""
