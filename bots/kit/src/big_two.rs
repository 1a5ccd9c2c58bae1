//! Reversal Big Two.

use std::{collections::BTreeSet, time::Duration};

use arena_proto::games::big_two::v1::{
    BigTwoAnswer, BigTwoCall, Pass, Play, big_two_answer::Answer, big_two_call::Call as Kind,
};
pub use arena_proto::games::big_two::v1::{Card, GetPlay, RequestPlay, Scoring, Table, get_play};
use prost::Message as _;
use tonic::Status;

use crate::{
    Bot, GameOver, GameStart,
    session::{Call, SeatPlayer, called, read, wrong},
};

/// A bot in one game of Reversal Big Two.
pub trait BigTwoBot: Send + 'static {
    /// The table before the first play, as everybody knows it.
    fn get_table(&mut self, _table: &Table) {}

    /// Your cards.
    fn get_deal(&mut self, cards: Vec<Card>);

    /// A seat has played or passed; you are told of your own plays too.
    fn get_play(&mut self, play: &GetPlay);

    /// A seat has left by a foul and taken this place.
    fn get_forfeit(&mut self, _seat: u32, _place: u32) {}

    /// Asks for the cards that you play. None is a pass, which is not allowed where you lead.
    fn request_play(&mut self, ask: &RequestPlay, limit: Duration) -> Option<Vec<Card>>;

    /// The stream was opened in the middle of a game: this was asked before,
    /// and answered so.
    fn resumed_play(&mut self, _ask: &RequestPlay, _cards: Option<Vec<Card>>) {}

    /// The game is over.
    fn game_over(&mut self, _over: &GameOver) {}
}

impl Bot {
    /// Plays Reversal Big Two: `new` makes the value for one game.
    #[must_use]
    pub fn big_two<B: BigTwoBot>(
        self,
        new: impl Fn(&GameStart) -> B + Send + Sync + 'static,
    ) -> Self {
        self.plays(PATH, move |start, bytes| {
            let mut bot = new(start);
            let call = read::<BigTwoCall>(bytes)?;
            if let Some(table) = call.table {
                called("get_table", || bot.get_table(&table))?;
            }
            if let Some(deal) = call.get_deal {
                called("get_deal", || bot.get_deal(deal.cards().collect()))?;
            }
            Ok(Box::new(BigTwoPlayer(bot)))
        })
    }
}

const PATH: &str = "/games.big_two.v1.BigTwoBot/Play";

struct BigTwoPlayer<B>(B);

impl<B: BigTwoBot> SeatPlayer for BigTwoPlayer<B> {
    fn hear(&mut self, call: Call) -> Result<Option<Vec<u8>>, Status> {
        let Self(bot) = self;
        let ask = match read::<BigTwoCall>(&call.bytes)?.call {
            Some(Kind::GetPlay(play)) => {
                called("get_play", || bot.get_play(&play))?;
                return Ok(None);
            }
            Some(Kind::Forfeit(forfeit)) => {
                let (seat, place) = (forfeit.seat, forfeit.place);
                called("get_forfeit", || bot.get_forfeit(seat, place))?;
                return Ok(None);
            }
            Some(Kind::RequestPlay(ask)) => ask,
            _ => return Ok(None),
        };
        if let Some(past) = &call.past_answer {
            let cards = match read::<BigTwoAnswer>(past)?.answer {
                Some(Answer::Play(play)) => Some(play.cards().collect()),
                _ => None,
            };
            called("resumed_play", || bot.resumed_play(&ask, cards))?;
            return Ok(None);
        }
        let answer = match called("request_play", || bot.request_play(&ask, call.limit))? {
            Some(cards) if !are_cards(&cards) => {
                let expected = "cards, each once, or None to pass";
                return Err(wrong("request_play", cards, expected));
            }
            Some(cards) => Answer::Play(Play {
                cards: cards.into_iter().map(i32::from).collect(),
            }),
            None => Answer::Pass(Pass {}),
        };
        let answer = BigTwoAnswer {
            number: None,
            answer: Some(answer),
        };
        Ok(Some(answer.encode_to_vec()))
    }

    fn over(&mut self, over: &GameOver) {
        self.0.game_over(over);
    }
}

/// True if these can be sent; the referee decides if the rules allow them.
fn are_cards(cards: &[Card]) -> bool {
    let each: BTreeSet<Card> = cards.iter().copied().collect();
    !cards.is_empty() && each.len() == cards.len() && !each.contains(&Card::Unspecified)
}
