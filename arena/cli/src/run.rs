//! Plays a list of games, as many at once as said, until it is done or
//! stopped.
//!
//! In a game with secrets no process sees two seatings of one deal: the games
//! are played in lots, each one seating of many deals, and every lot by
//! processes of its own.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Context as _;
use arena_ladder::Seatings;
use futures_util::{StreamExt as _, stream};
use referee::{Bot, Game, PlayError, Played, Pool};
use referee_core::{GameKind, Limits, PerSeat, Root};
use referee_games::Fixture;

use crate::{
    entry::{Entry, Start},
    setups::Setups,
    stop::Stop,
};

/// One game of a run. All games of a group have the same deal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Which deal, from 0. All games of a deal count as one group.
    pub(crate) group: u64,
    /// Which seating of it, from 0.
    pub(crate) seating: u32,
    /// Who sits where: each bot's number in the run, in order of the seats.
    pub(crate) bots: Vec<usize>,
}

impl Pairing {
    /// Every seating of `rounds` deals between these bots.
    pub(crate) fn rounds(
        bots: &[usize],
        seatings: Seatings,
        first_group: u64,
        rounds: u64,
    ) -> Vec<Self> {
        (first_group..first_group + rounds)
            .flat_map(|group| {
                let orders = seatings.of(bots.len(), group - first_group);
                (0..).zip(orders).map(move |(seating, order)| Self {
                    group,
                    seating,
                    bots: order.into_iter().map(|place| bots[place]).collect(),
                })
            })
            .collect()
    }

    /// The same games, each with a deal of its own.
    pub(crate) fn independent(pairings: &mut [Self]) {
        for (group, pairing) in (0..).zip(pairings) {
            pairing.group = group;
        }
    }

    /// Names the game within its run.
    pub(crate) fn id(&self) -> String {
        format!("round-{:04}-game-{}", self.group, self.seating)
    }
}

/// What all games of a run have in common.
pub(crate) struct Table {
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) setups: Setups,
    pub(crate) limits: Limits,
    pub(crate) root: Root,
    pub(crate) entries: Vec<Entry>,
    pub(crate) start: Start,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Every game has been played.
    Whole,
    /// It was stopped.
    Stopped,
}

/// How many deals are in flight together in a game with secrets: a lot is one
/// seating of that many, and their records are kept back until all of their
/// seatings have been played.
const DEALS_IN_A_LOT: usize = 64;

/// Plays them all, at most `concurrency` at once, and hands over each: as it
/// ends or, in a game with secrets, when every seating of its deal has ended,
/// for a record holds what the other seatings must not know.
///
/// # Errors
///
/// Only for our own failures; what a bot does wrong is in its game's record.
pub(crate) async fn run(
    table: &Table,
    pairings: &[Pairing],
    concurrency: usize,
    stop: &Stop,
    mut ended: impl FnMut(),
    mut done: impl AsyncFnMut(usize, &Pairing, Played) -> anyhow::Result<()>,
) -> anyhow::Result<RunEnd> {
    let pool = Pool::new(threads())?;
    let secrets = table.kind.has_secrets();
    let mut end = RunEnd::Whole;
    for deals in deals_together(pairings, secrets) {
        let mut kept = Vec::new();
        let mut failed = Ok(());
        for lot in lots(&deals, secrets, &table.setups) {
            let bots = table.bots()?;
            let played = play_lot(table, &lot, &bots, &pool, concurrency, stop, async |game| {
                ended();
                let (index, pairing, played) = game;
                if secrets {
                    kept.push((index, pairing, played));
                    Ok(())
                } else {
                    done(index, pairing, played).await
                }
            })
            .await;
            for bot in &bots {
                bot.stop().await;
            }
            match played {
                Ok(RunEnd::Whole) => continue,
                Ok(RunEnd::Stopped) => end = RunEnd::Stopped,
                Err(error) => failed = Err(error),
            }
            break;
        }
        // Whatever happened: no other seating of these deals will be played.
        kept.sort_by_key(|(index, ..)| *index);
        for (index, pairing, played) in kept {
            done(index, pairing, played).await?;
        }
        failed?;
        if end == RunEnd::Stopped {
            break;
        }
    }
    drop(pool);
    Ok(end)
}

/// A game of the list, and its place in it.
type Numbered<'a> = (usize, &'a Pairing);

/// The games whose deals are in flight together.
fn deals_together(pairings: &[Pairing], secrets: bool) -> Vec<Vec<Numbered<'_>>> {
    let mut together: Vec<Vec<Numbered<'_>>> = Vec::new();
    let mut deals = 0;
    let mut last = None;
    for game in pairings.iter().enumerate() {
        if last.replace(game.1.group) != Some(game.1.group) {
            deals += 1;
        }
        match together.last_mut() {
            Some(games) if !secrets || deals <= DEALS_IN_A_LOT => games.push(game),
            _ => {
                together.push(vec![game]);
                deals = 1;
            }
        }
    }
    together
}

/// One seating after the other where there are secrets, else all together. A
/// deal that a set-up has fixed is no lot's twice, not even from one seat: it
/// would be known.
fn lots<'a>(games: &[Numbered<'a>], secrets: bool, setups: &Setups) -> Vec<Vec<Numbered<'a>>> {
    if !secrets {
        return vec![games.to_vec()];
    }
    let mut lots: BTreeMap<(u32, usize), Vec<Numbered<'a>>> = BTreeMap::new();
    let mut times = BTreeMap::new();
    for game in games {
        let seating = game.1.seating;
        let before = setups.fixed(game.1.group).map_or(0, |deal| {
            let times = times.entry((seating, deal)).or_insert(0);
            *times += 1;
            *times - 1
        });
        lots.entry((seating, before)).or_default().push(*game);
    }
    lots.into_values().collect()
}

/// Plays games on these processes and hands over each as it ends.
async fn play_lot<'a>(
    table: &Table,
    lot: &[Numbered<'a>],
    bots: &[Arc<Bot>],
    pool: &Pool,
    concurrency: usize,
    stop: &Stop,
    mut ended: impl AsyncFnMut((usize, &'a Pairing, Played)) -> anyhow::Result<()>,
) -> anyhow::Result<RunEnd> {
    let games = stream::iter(lot)
        .take_until(stop.asked())
        .map(|&(index, pairing)| {
            let playing = table.game(pairing, bots).play(pool);
            async move { (index, pairing, playing.await) }
        })
        .buffer_unordered(concurrency.max(1));
    let mut games = Box::pin(games);
    let mut count = 0;
    let end = loop {
        let game = tokio::select! {
            game = games.next() => game,
            // Dropping the games cuts them off.
            () = stop.cut_off() => break RunEnd::Stopped,
        };
        let Some((index, pairing, played)) = game else {
            break if count == lot.len() {
                RunEnd::Whole
            } else {
                RunEnd::Stopped
            };
        };
        let played = match played {
            Ok(played) => played,
            Err(error @ (PlayError::Setup(_) | PlayError::CutOff(_))) => {
                return Err(error).context(pairing.id());
            }
        };
        count += 1;
        ended((index, pairing, played)).await?;
    };
    Ok(end)
}

impl Table {
    /// The bots, none of which has a process yet.
    fn bots(&self) -> anyhow::Result<Vec<Arc<Bot>>> {
        let lot = self.start.next_lot();
        self.entries
            .iter()
            .map(|entry| entry.bot(&self.start, lot))
            .collect()
    }

    fn game(&self, pairing: &Pairing, bots: &[Arc<Bot>]) -> Game {
        let players: Vec<String> = pairing
            .bots
            .iter()
            .map(|&bot| self.entries[bot].name.clone())
            .collect();
        Game {
            fixture: Fixture {
                kind: self.kind,
                game_id: pairing.id(),
                setup: self.setups.of(pairing.group).clone(),
                seed: self.root.seed(self.kind.info().name, pairing.group),
                players: PerSeat::from(players),
                limits: self.limits,
                spent: PerSeat::default(),
            },
            bots: pairing.bots.iter().map(|&bot| bots[bot].clone()).collect(),
            watch: None,
        }
    }
}

/// How many games to play at once if nobody says: as many as there are cores,
/// since one bot of a game thinks at a time.
pub(crate) fn standard_concurrency() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Half of the cores referee; the bots need the others.
pub(crate) fn threads() -> usize {
    (standard_concurrency() / 2).max(1)
}

/// A root that nobody can guess.
pub(crate) fn secret_root() -> anyhow::Result<Root> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system has no chance to give")?;
    Ok(Root::new(bytes))
}

/// A length of time that a limit can be: more than none, and at most a year, so that
/// there is a moment which is so long from now.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    match humantime::parse_duration(text) {
        Ok(time) if time.is_zero() => Err("expected more than no time".to_owned()),
        Ok(time) if time > LONGEST => Err("expected at most a year".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(format!(
            "expected a length of time such as 3s or 200ms ({error})"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_more_than_no_time_and_at_most_a_year() {
        assert_eq!(positive_duration("365days"), Ok(Duration::from_hours(8760)));
        for wrong in ["0s", "366days", "500000000000years", "soon"] {
            let why = positive_duration(wrong).unwrap_err();
            assert!(why.starts_with("expected "), "{wrong}: {why}");
        }
    }

    #[test]
    fn every_deal_is_played_from_every_seating() {
        for seatings in [Seatings::Rotations, Seatings::All] {
            let games = Pairing::rounds(&[0, 1], seatings, 3, 2);
            let seats: Vec<_> = games
                .iter()
                .map(|game| (game.group, game.seating, game.bots.clone()))
                .collect();
            assert_eq!(
                seats,
                [
                    (3, 0, vec![0, 1]),
                    (3, 1, vec![1, 0]),
                    (4, 0, vec![0, 1]),
                    (4, 1, vec![1, 0])
                ]
            );
        }
    }

    #[test]
    fn no_lot_has_two_seatings_of_one_deal() {
        let pairings = Pairing::rounds(&[0, 1, 2, 3], Seatings::All, 0, 150);
        let none = Setups::new(referee_games::GAMES[0], vec![serde_json::Value::Null]).unwrap();
        let mut seen = vec![false; pairings.len()];
        for deals in deals_together(&pairings, true) {
            for lot in lots(&deals, true, &none) {
                let mut groups: Vec<_> = lot.iter().map(|(_, game)| game.group).collect();
                groups.dedup();
                assert_eq!(groups.len(), lot.len());
                assert!(lot.len() <= DEALS_IN_A_LOT);
                for (index, _) in lot {
                    assert!(!std::mem::replace(&mut seen[index], true));
                }
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
        let all = deals_together(&pairings, false);
        assert_eq!(all.len(), 1);
        assert_eq!(lots(&all[0], false, &none).len(), 1);
    }

    #[test]
    fn no_lot_has_a_fixed_deal_twice() {
        let pairings = Pairing::rounds(&[0, 1], Seatings::Rotations, 0, 6);
        let games: Vec<_> = pairings.iter().enumerate().collect();
        let deal = |hand: &str| serde_json::json!({"hands": [hand, "147c258b1234567d"]});
        let setups = ["22367c1478b1389d", "22368c1478b1389d"].map(deal);
        let setups = [&setups[..], &[serde_json::json!({})]].concat();
        let setups = Setups::new(referee_games::game("mahjong").unwrap(), setups).unwrap();
        let lots: Vec<Vec<_>> = lots(&games, true, &setups)
            .iter()
            .map(|lot| lot.iter().map(|(_, game)| game.id()).collect())
            .collect();
        let game = |round, seating| format!("round-000{round}-game-{seating}");
        let first = |seating| [0, 1, 2, 5].map(|round| game(round, seating)).to_vec();
        let again = |seating| [3, 4].map(|round| game(round, seating)).to_vec();
        assert_eq!(lots, [first(0), again(0), first(1), again(1)]);
    }
}
