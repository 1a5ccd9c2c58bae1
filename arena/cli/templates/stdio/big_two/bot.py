"""{{name}}: a bot for Reversal Big Two that reads and writes lines of JSON."""

import json
import sys

RANKS = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2", "JK"]
hand = []


def rank(card):
    return RANKS.index(card[:-1])


def choose(hand, to_beat, reversed):
    """What to play; nothing is a pass. Your idea goes here: this plays the lowest single card
    that it can, and passes where several cards are to be beaten or the order is reversed.
    """
    if not to_beat:
        # With the three of clubs, where that must be played.
        return ["3C"] if "3C" in hand else [min(hand, key=rank)]
    if len(to_beat) > 1 or reversed:
        return []
    higher = [card for card in hand if rank(card) > rank(to_beat[0])]
    return sorted(higher, key=rank)[:1]


def answer(call):
    """The answer to a question; to a notice nothing."""
    match call["call"]:
        case "start" if call["game"] != "big_two":
            return {"error": "I play big_two"}
        case "start":
            hand.extend(call["get_deal"]["cards"])
            return {"ready": {}}
        case "request_play":
            to_beat = call["to_beat"]
            cards = choose(hand, to_beat["cards"] if to_beat else [], call["reversed"])
            for card in cards:
                hand.remove(card)
            print("I play", *cards, file=sys.stderr)  # goes into the bot's log
            return {"play": {"cards": cards}} if cards else {"pass": {}}


if __name__ == "__main__":
    for line in sys.stdin:
        if said := answer(json.loads(line)):
            print(json.dumps(said), flush=True)
