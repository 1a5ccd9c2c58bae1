//! {{name}}: a bot for Reversal Big Two.

use std::time::Duration;

use bot_kit::{
    Bot,
    big_two::{BigTwoBot, Card, GetPlay, RequestPlay},
};

/// What to play; nothing is a pass. Your idea goes here: this plays the lowest single card that it
/// can, and passes where several cards are to be beaten or the order is reversed.
fn choose(hand: &[Card], to_beat: &[Card], reversed: bool) -> Vec<Card> {
    let lowest = match to_beat {
        // With the three of clubs, where that must be played.
        [] => hand.iter().min(),
        [card] if !reversed => hand.iter().filter(|own| rank(**own) > rank(*card)).min(),
        _ => None,
    };
    lowest.copied().into_iter().collect()
}

/// 0 for a three to 12 for a two; 13 for a joker.
fn rank(card: Card) -> i32 {
    (card as i32 - 1) / 4
}

/// One value for each game.
#[derive(Default)]
struct MyBot {
    hand: Vec<Card>,
}

impl BigTwoBot for MyBot {
    fn get_deal(&mut self, cards: Vec<Card>) {
        self.hand = cards;
    }

    fn get_play(&mut self, _play: &GetPlay) {}

    fn request_play(&mut self, ask: &RequestPlay, _limit: Duration) -> Option<Vec<Card>> {
        let to_beat: Vec<Card> = ask.to_beat.iter().flat_map(|play| play.cards()).collect();
        let cards = choose(&self.hand, &to_beat, ask.reversed);
        self.hand.retain(|card| !cards.contains(card));
        println!("I play {cards:?}"); // goes into the bot's log
        (!cards.is_empty()).then_some(cards)
    }
}

fn main() -> std::process::ExitCode {
    Bot::new("{{name}}", "1")
        .big_two(|_start| MyBot::default())
        .main()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_card_that_beats_is_played() {
        let hand = [Card::TwoOfSpades, Card::NineOfHearts, Card::FiveOfClubs];
        let played = choose(&hand, &[Card::SevenOfDiamonds], false);
        assert_eq!(played, [Card::NineOfHearts]);
    }
}
