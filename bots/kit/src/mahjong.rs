//! Arcade Mahjong.

use std::time::Duration;

use arena_proto::games::mahjong::v1::{
    Claim, MahjongAnswer, MahjongCall, mahjong_answer::Answer, mahjong_call::Call as Kind,
};
pub use arena_proto::games::mahjong::v1::{Round, Tile};
use prost::Message as _;
use tonic::Status;

use crate::{
    Bot, GameOver, GameStart,
    session::{Call, SeatPlayer, called, invalid, read, wrong},
};

/// A bot in one round of Mahjong. A [`Tile`] as a number is 10 * suit + rank,
/// with the suits c, b, d as 0, 1, 2.
pub trait MahjongBot: Send + 'static {
    /// The rules by which the round is played; before everything else.
    fn get_round(&mut self, _round: &Round) {}

    /// A tile is in your hand now: one call for each of the 13 at the start,
    /// then for each that you draw.
    fn get_draw(&mut self, tile: Tile);

    /// Asks for the tile of your hand that you discard. It is out of the hand then.
    fn request_discard(&mut self, limit: Duration) -> Tile;

    /// The other seat has discarded a tile.
    fn get_opp_discard(&mut self, tile: Tile);

    /// Do you win on this tile, which completes the hand? If you don't, you are told of
    /// the tile like of any other.
    fn request_win(&mut self, tile: Tile, is_self_draw: bool, limit: Duration) -> bool;

    /// The stream was opened in the middle of a game: you discarded this.
    fn resumed_discard(&mut self, _tile: Tile) {}

    /// The same for a claim.
    fn resumed_win(&mut self, _tile: Tile, _is_self_draw: bool, _win: bool) {}

    /// The round is over.
    fn game_over(&mut self, _over: &GameOver) {}
}

impl Bot {
    /// Plays Mahjong: `new` makes the value for one round.
    #[must_use]
    pub fn mahjong<B: MahjongBot>(
        self,
        new: impl Fn(&GameStart) -> B + Send + Sync + 'static,
    ) -> Self {
        self.plays(PATH, move |start, bytes| {
            let mut bot = new(start);
            if let Some(round) = read::<MahjongCall>(bytes)?.round {
                called("get_round", || bot.get_round(&round))?;
            }
            Ok(Box::new(MahjongPlayer(bot)))
        })
    }
}

const PATH: &str = "/games.mahjong.v1.MahjongBot/Play";

struct MahjongPlayer<B>(B);

impl<B: MahjongBot> SeatPlayer for MahjongPlayer<B> {
    fn hear(&mut self, call: Call) -> Result<Option<Vec<u8>>, Status> {
        let Self(bot) = self;
        let past = match &call.past_answer {
            Some(past) => read::<MahjongAnswer>(past)?.answer,
            None => None,
        };
        let answer = match read::<MahjongCall>(&call.bytes)?.call {
            Some(Kind::GetDraw(draw)) => {
                called("get_draw", || {
                    draw.tiles().for_each(|tile| bot.get_draw(tile));
                })?;
                return Ok(None);
            }
            Some(Kind::GetOppDiscard(discard)) => {
                called("get_opp_discard", || bot.get_opp_discard(discard.tile()))?;
                return Ok(None);
            }
            Some(Kind::RequestDiscard(_)) => {
                if let Some(Answer::Discard(tile)) = past {
                    let tile = Tile::try_from(tile).map_err(|_| invalid("no such tile"))?;
                    called("resumed_discard", || bot.resumed_discard(tile))?;
                    return Ok(None);
                }
                let tile = called("request_discard", || bot.request_discard(call.limit))?;
                if tile == Tile::Unspecified {
                    return Err(wrong("request_discard", tile, "a tile of the hand"));
                }
                Answer::Discard(tile.into())
            }
            Some(Kind::RequestWin(ask)) => {
                let (tile, own) = (ask.winning_tile(), ask.is_self_draw);
                if let Some(Answer::Win(claim)) = past {
                    let win = claim == i32::from(Claim::Win);
                    called("resumed_win", || bot.resumed_win(tile, own, win))?;
                    return Ok(None);
                }
                let win = called("request_win", || bot.request_win(tile, own, call.limit))?;
                let claim = if win { Claim::Win } else { Claim::Pass };
                Answer::Win(claim.into())
            }
            _ => return Ok(None),
        };
        let answer = MahjongAnswer {
            number: None,
            answer: Some(answer),
        };
        Ok(Some(answer.encode_to_vec()))
    }

    fn over(&mut self, over: &GameOver) {
        self.0.game_over(over);
    }
}
