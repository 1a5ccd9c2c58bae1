//! Plays every game by its callbacks alone: some move that the rules allow, the same
//! for the same `bot_seed`.

use std::time::Duration;

use bot_kit::{
    Bot, GameStart,
    big_two::{BigTwoBot, Card, GetPlay, RequestPlay},
    connect_four::{ConnectFourBot, GetPoint, Point},
    mahjong::{MahjongBot, Tile},
    othello::{OthelloBot, RequestMove, Square},
};
use rand::{SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};

/// One game of any kind.
struct Random {
    chance: StdRng,
    tiles: Vec<Tile>,
    cards: Vec<Card>,
}

impl Random {
    fn new(start: &GameStart) -> Self {
        Self {
            chance: StdRng::seed_from_u64(start.bot_seed),
            tiles: Vec::new(),
            cards: Vec::new(),
        }
    }

    fn one_of<T: Clone>(&mut self, moves: &[T]) -> T {
        let chosen = moves.choose(&mut self.chance);
        chosen.expect("who is asked has a move").clone()
    }
}

impl ConnectFourBot for Random {
    fn get_point(&mut self, ask: &GetPoint) -> Point {
        self.one_of(&ask.points().collect::<Vec<_>>())
    }
}

impl MahjongBot for Random {
    fn get_draw(&mut self, tile: Tile) {
        self.tiles.push(tile);
    }

    fn request_discard(&mut self, _limit: Duration) -> Tile {
        let tile = self.one_of(&self.tiles.clone());
        take(&mut self.tiles, &tile);
        tile
    }

    fn get_opp_discard(&mut self, _tile: Tile) {}

    fn request_win(&mut self, _tile: Tile, _is_self_draw: bool, _limit: Duration) -> bool {
        true
    }

    fn resumed_discard(&mut self, tile: Tile) {
        take(&mut self.tiles, &tile);
    }
}

impl BigTwoBot for Random {
    fn get_deal(&mut self, cards: Vec<Card>) {
        self.cards = cards;
    }

    fn get_play(&mut self, _play: &GetPlay) {}

    fn request_play(&mut self, ask: &RequestPlay, _limit: Duration) -> Option<Vec<Card>> {
        let mut plays: Vec<_> = plays(&self.cards, ask).into_iter().map(Some).collect();
        if ask.to_beat.is_some() {
            plays.push(None);
        }
        let play = self.one_of(&plays);
        play.iter()
            .flatten()
            .for_each(|card| take(&mut self.cards, card));
        play
    }

    fn resumed_play(&mut self, _ask: &RequestPlay, cards: Option<Vec<Card>>) {
        cards
            .iter()
            .flatten()
            .for_each(|card| take(&mut self.cards, card));
    }
}

/// One to four cards of a rank that may be played now; a straight flush is beyond this
/// bot, and a joker is only ever played alone.
fn plays(cards: &[Card], ask: &RequestPlay) -> Vec<Vec<Card>> {
    let to_beat: Option<Vec<Card>> = ask.to_beat.as_ref().map(|play| play.cards().collect());
    let beats = |play: &[Card]| {
        let Some(other) = &to_beat else {
            return true;
        };
        // Jokers stand in for what the others are.
        let natural = other.iter().map(|card| rank(*card)).min();
        let same = other
            .iter()
            .all(|card| Some(rank(*card)) == natural || rank(*card) == JOKER);
        same && other.len() == play.len()
            && natural.is_some_and(|natural| {
                strength(rank(play[0]), ask.reversed) > strength(natural, ask.reversed)
            })
    };
    let mut plays = Vec::new();
    for first in 0..cards.len() {
        let alike: Vec<_> = cards[first..]
            .iter()
            .copied()
            .filter(|card| rank(*card) == rank(cards[first]))
            .collect();
        let most = if rank(cards[first]) == JOKER {
            1
        } else {
            alike.len()
        };
        plays.extend((1..=most).map(|count| alike[..count].to_vec()));
    }
    plays.retain(|play| {
        beats(play) && (!ask.must_include_three_of_clubs || play.contains(&Card::ThreeOfClubs))
    });
    plays
}

const JOKER: i32 = 13;

/// 0 for a three to 12 for a two; 13 for a joker.
fn rank(card: Card) -> i32 {
    (i32::from(card) - 1) / 4
}

/// The strength that is compared: reversed, a two is the lowest; a joker is always the highest.
const fn strength(rank: i32, reversed: bool) -> i32 {
    if reversed && rank != JOKER {
        JOKER - 1 - rank
    } else {
        rank
    }
}

fn take<T: PartialEq>(hand: &mut Vec<T>, one: &T) {
    if let Some(at) = hand.iter().position(|held| held == one) {
        hand.swap_remove(at);
    }
}

impl OthelloBot for Random {
    fn request_move(&mut self, ask: &RequestMove, _limit: Duration) -> Square {
        let squares = (0..64).map(|at| (at / 8, at % 8));
        let legal: Vec<_> = squares.filter(|at| turns(&ask.board, *at)).collect();
        let (row, column) = self.one_of(&legal);
        Square {
            row: row as u32,
            column: column as u32,
        }
    }
}

/// True if a disc of one's own (2) there encloses some of the opponent's (1).
fn turns(board: &[u8], (row, column): (i32, i32)) -> bool {
    let at = |row: i32, column: i32| {
        let on = (0..8).contains(&row) && (0..8).contains(&column);
        if on {
            board[(8 * row + column) as usize]
        } else {
            0
        }
    };
    let directions = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
    at(row, column) == 0
        && directions.filter(|way| *way != (0, 0)).any(|(x, y)| {
            let run = (1..8).find(|step| at(row + step * x, column + step * y) != 1);
            run.is_some_and(|step| step > 1 && at(row + step * x, column + step * y) == 2)
        })
}

fn main() -> std::process::ExitCode {
    Bot::new("random", "1.0")
        .max_games(16)
        .can_resume()
        .quick()
        .connect_four(Random::new)
        .mahjong(Random::new)
        .big_two(Random::new)
        .othello(Random::new)
        .main()
}
