//! Plays a list of games, as many at once as said, until it is done or
//! stopped.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use futures_util::{StreamExt as _, stream};
use referee::{Bot, Game, PlayError, Played, Pool};
use referee_core::{GameKind, Limits, PerSeat, Root};
use referee_games::Fixture;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// One game of a run. All games of a group have the same deal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Which deal, from 0.
    pub(crate) group: u64,
    /// Which seating of it, from 0.
    pub(crate) seating: u32,
    /// Who sits where: each bot's number in the run, in order of the seats.
    pub(crate) bots: Vec<usize>,
}

impl Pairing {
    /// Every seating of `rounds` deals between these bots: in each the one that
    /// began comes last in the next.
    pub(crate) fn rounds(bots: &[usize], first_group: u64, rounds: u64) -> Vec<Self> {
        (first_group..first_group + rounds)
            .flat_map(|group| {
                (0..bots.len()).map(move |seating| {
                    let mut seats = bots.to_vec();
                    seats.rotate_left(seating);
                    Self {
                        group,
                        seating: seating as u32,
                        bots: seats,
                    }
                })
            })
            .collect()
    }

    /// Names the game within its run.
    pub(crate) fn id(&self) -> String {
        format!("round-{:04}-game-{}", self.group, self.seating)
    }
}

/// What all games of a run have in common.
pub(crate) struct Table {
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) setup: serde_json::Value,
    pub(crate) limits: Limits,
    pub(crate) root: Root,
    pub(crate) names: Vec<String>,
    pub(crate) bots: Vec<Arc<Bot>>,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Every game has been played.
    Whole,
    /// It was stopped.
    Stopped,
}

/// How often a person has asked to stop: once is to finish what runs, twice is
/// to cut it off.
#[derive(Clone)]
pub(crate) struct Stop {
    once: CancellationToken,
    twice: CancellationToken,
}

impl Stop {
    /// Listens for SIGINT and SIGTERM.
    pub(crate) fn on_signals() -> anyhow::Result<Self> {
        let stop = Self {
            once: CancellationToken::new(),
            twice: CancellationToken::new(),
        };
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let told = stop.clone();
        tokio::spawn(async move {
            for token in [&told.once, &told.twice] {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if !told.once.is_cancelled() {
                    anstream::eprintln!(
                        "\narena: finishing the games that are running; once more cuts them off"
                    );
                }
                token.cancel();
            }
        });
        Ok(stop)
    }
}

/// Plays them all, at most `concurrency` at once, and hands over each as it
/// ends.
///
/// # Errors
///
/// Only for our own failures; what a bot does wrong is in its game's record.
pub(crate) async fn run(
    table: &Table,
    pairings: &[Pairing],
    concurrency: usize,
    stop: &Stop,
    mut done: impl AsyncFnMut(usize, &Pairing, Played) -> anyhow::Result<()>,
) -> anyhow::Result<RunEnd> {
    let pool = Pool::new(threads())?;
    let games = stream::iter(pairings.iter().enumerate())
        .take_until(stop.once.cancelled())
        .map(|(index, pairing)| {
            let playing = table.game(pairing).play(&pool);
            async move { (index, pairing, playing.await) }
        })
        .buffer_unordered(concurrency.max(1));
    let mut games = Box::pin(games);
    let mut count = 0;
    let end = loop {
        let game = tokio::select! {
            game = games.next() => game,
            // Dropping the games cuts them off.
            () = stop.twice.cancelled() => break RunEnd::Stopped,
        };
        let Some((index, pairing, played)) = game else {
            break if count == pairings.len() {
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
        done(index, pairing, played).await?;
    };
    drop(games);
    pool.drain().await;
    drop(pool);
    for bot in &table.bots {
        bot.stop().await;
    }
    Ok(end)
}

impl Table {
    fn game(&self, pairing: &Pairing) -> Game {
        let players: Vec<String> = pairing
            .bots
            .iter()
            .map(|&bot| self.names[bot].clone())
            .collect();
        Game {
            fixture: Fixture {
                kind: self.kind,
                game_id: pairing.id(),
                setup: self.setup.clone(),
                seed: self.root.seed(self.kind.info().name, pairing.group),
                players: PerSeat::from(players),
                limits: self.limits,
            },
            bots: pairing
                .bots
                .iter()
                .map(|&bot| self.bots[bot].clone())
                .collect(),
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
fn threads() -> usize {
    (standard_concurrency() / 2).max(1)
}

/// A root that nobody can guess.
pub(crate) fn secret_root() -> anyhow::Result<Root> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system has no chance to give")?;
    Ok(Root::new(bytes))
}

/// A length of time that a limit can be.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if time.is_zero() => Err("expected more than no time".to_owned()),
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
    fn every_deal_is_played_from_every_seating() {
        let games = Pairing::rounds(&[0, 1], 3, 2);
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
        let four = Pairing::rounds(&[0, 1, 2, 3], 0, 1);
        for bot in 0..4 {
            let mut places: Vec<_> = four
                .iter()
                .map(|game| game.bots.iter().position(|&b| b == bot))
                .collect();
            places.sort_unstable();
            assert_eq!(places, [Some(0), Some(1), Some(2), Some(3)]);
        }
    }
}
