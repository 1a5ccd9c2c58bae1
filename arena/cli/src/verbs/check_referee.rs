//! `arena check-referee`: every villain against an honest bot, and whether the
//! referee answers as it should.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use clap::Args;
use futures_util::{StreamExt as _, future::join_all, stream};
use referee::{Bot, Game, Memory, Played, Pool};
use referee_core::{FoulKind, GameKind, Limits, PerSeat, Seat, Seed};
use referee_games::Fixture;
use serde_json::json;
use villains::{Kind, Trial};

use super::{Format, find_game};
use crate::{
    End, classic,
    entry::{Entry, Start},
    report, run,
    stop::Stop,
    tally::plural,
};

/// Plays every bot that misbehaves against an honest one, from either seat, and
/// shows what the referee makes of it. Exit code 1 where it is not what it
/// should be.
#[derive(Args)]
pub(crate) struct CheckReferee {
    /// Only this kind, once for each [default: all].
    #[arg(
        long = "kind",
        value_name = "KIND",
        value_enum,
        hide_possible_values = true
    )]
    kinds: Vec<Kind>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The seats that a villain is tried in.
const SEATS: [Seat; 2] = [Seat::new(0), Seat::new(1)];
/// The same deals every time.
const SEED: [u8; 32] = [7; 32];
/// How many villains are tried at once: most of them only wait.
const AT_ONCE: usize = 8;
/// How long the honest bot has until it listens.
const AMPLE: Duration = Duration::from_secs(30);

/// A villain, ready to be started in each seat.
struct Tried {
    kind: Kind,
    trial: Trial,
    bots: [Arc<Bot>; 2],
}

/// What the referee made of a villain.
struct Found {
    kind: Kind,
    seats: [Answer; 2],
}

/// What the referee made of it in one seat.
struct Answer {
    foul: Option<FoulKind>,
    /// The foul with its evidence, or how the game ended.
    words: String,
    /// The honest bot's foul: there should be none.
    unjust: Option<String>,
}

impl CheckReferee {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let mut kinds = self.kinds.clone();
        if kinds.is_empty() {
            kinds = Kind::all().to_vec();
        }
        let game = find_game(villains::GAME)?;
        let stop = Stop::on_signals(None)?;
        let mut start = Start::new(AMPLE, Memory::default(), None)?;
        let honest = bot(&start, Kind::Honest, &Kind::Honest.trial())?;
        let mut tried = Vec::new();
        for kind in kinds {
            let trial = kind.trial();
            start.limit = trial.listens_within;
            tried.push(Tried {
                kind,
                trial,
                bots: [bot(&start, kind, &trial)?, bot(&start, kind, &trial)?],
            });
        }
        let pool = Pool::new(run::threads())?;
        let outcome = self.try_all(&tried, &honest, game, &pool, &stop).await;
        let all = tried.iter().flat_map(|tried| &tried.bots).chain([&honest]);
        join_all(all.map(|bot| bot.stop())).await;
        outcome
    }

    /// Shows each in order, as soon as those before it are known.
    async fn try_all(
        &self,
        tried: &[Tried],
        honest: &Arc<Bot>,
        game: &'static dyn GameKind,
        pool: &Pool,
        stop: &Stop,
    ) -> anyhow::Result<End> {
        let found = stream::iter(tried)
            .take_until(stop.asked())
            .map(|tried| tried.play(honest, game, pool))
            .buffered(AT_ONCE);
        let mut found = Box::pin(found);
        let mut known = 0;
        let mut wrong = Vec::new();
        if self.format == Format::Text {
            report::heading(&line("", "villain", "expected", "answered", "code"))?;
        }
        loop {
            let next = tokio::select! {
                next = found.next() => next,
                // Dropping the games cuts them off.
                () = stop.cut_off() => None,
            };
            let Some(next) = next else { break };
            let next = next?;
            known += 1;
            if !next.holds() {
                wrong.push(next.kind.name());
            }
            match self.format {
                Format::Text => report::text(&next.text())?,
                Format::Json => report::event(&next.event())?,
            }
        }
        self.close(known, &wrong)?;
        Ok(if known < tried.len() {
            End::Interrupted
        } else if wrong.is_empty() {
            End::Done
        } else {
            End::No
        })
    }

    /// Sums up.
    fn close(&self, known: usize, wrong: &[String]) -> anyhow::Result<()> {
        if self.format == Format::Json {
            return report::event(&json!({
                "type": "summary", "villains": known, "holds": wrong.is_empty(), "wrong": wrong,
            }));
        }
        let known = plural(known as u32, "villain");
        let words = if wrong.is_empty() {
            format!("{known}, each from either seat: answered as expected")
        } else {
            format!("{known}, not answered as expected: {}", wrong.join(", "))
        };
        report::text(&format!("\n{}\n", report::wrapped(&words)))
    }
}

/// A villain that the arena starts itself as.
fn bot(start: &Start, kind: Kind, trial: &Trial) -> anyhow::Result<Arc<Bot>> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("the arena's path is no text")?;
    let kind = kind.name();
    let mut words = vec![program, "villain", &kind];
    words.extend(trial.arguments);
    let command = shlex::try_join(words)?;
    let memory = Memory {
        limit: trial.memory,
        gauge: None,
    };
    Entry::read(&format!("{kind}=exec:{command}"))?.bot_with(start, memory, 0)
}

impl Tried {
    /// Plays it in both seats at once.
    async fn play(
        &self,
        honest: &Arc<Bot>,
        game: &'static dyn GameKind,
        pool: &Pool,
    ) -> anyhow::Result<Found> {
        let [first, second] = SEATS.map(|seat| self.play_in(seat, honest, game, pool));
        let (first, second) = tokio::try_join!(first, second)?;
        Ok(Found {
            kind: self.kind,
            seats: [first, second],
        })
    }

    async fn play_in(
        &self,
        seat: Seat,
        honest: &Arc<Bot>,
        game: &'static dyn GameKind,
        pool: &Pool,
    ) -> anyhow::Result<Answer> {
        let villain = &self.bots[seat.index()];
        let id = format!("check-referee-{}-{seat}", self.kind.name());
        let mut bots = vec![villain.clone(), honest.clone()];
        let mut players = vec![self.kind.name(), "opponent".to_owned()];
        if seat != SEATS[0] {
            bots.reverse();
            players.reverse();
        }
        let setup = serde_json::from_str(self.trial.setup)?;
        let game = Game {
            fixture: Fixture {
                kind: game,
                game_id: id.clone(),
                setup: game.setup(&setup).context(id.clone())?,
                seed: Seed::new(SEED),
                players: players.into(),
                limits: Limits {
                    start: self.trial.ready_within,
                    per_move: self.trial.per_move,
                    ..Limits::default()
                },
                spent: PerSeat::default(),
            },
            bots,
            watch: None,
        };
        let played = game.play(pool).await.context(id)?;
        // What it keeps of our machine it need not keep until the end.
        villain.stop().await;
        Ok(Answer::new(&played, seat))
    }
}

impl Answer {
    fn new(played: &Played, seat: Seat) -> Self {
        let verdict = &played.record.result.verdict;
        let foul = verdict.foul(seat);
        let words = match (foul, verdict.outcome()) {
            (Some(foul), _) => foul.to_string(),
            (None, Some(outcome)) => format!("played to its end: {}", outcome.reason),
            (None, None) => "void".to_owned(),
        };
        Self {
            foul: foul.map(|foul| foul.kind()),
            words,
            unjust: verdict.foul(seat.other()).map(ToString::to_string),
        }
    }

    /// Whether it is what it should be.
    fn holds(&self, expected: Option<FoulKind>) -> bool {
        self.foul == expected && self.unjust.is_none() && self.words != "void"
    }

    /// The code of the classic report, where there is a foul.
    fn code(&self, seat: Seat) -> Option<i32> {
        let seat = i32::try_from(seat.index()).ok()?;
        Some(classic::foul_code(self.foul?, seat))
    }
}

impl Found {
    fn holds(&self) -> bool {
        let expected = self.kind.foul();
        self.seats.iter().all(|answer| answer.holds(expected))
    }

    /// A line, and below it what the villain does and what the referee says of it.
    fn text(&self) -> String {
        let [first, second] = &self.seats;
        let both = |first: String, second: String| {
            if first == second {
                first
            } else {
                format!("{first}, {second}")
            }
        };
        let code = |seat: Seat| match self.seats[seat.index()].code(seat) {
            Some(code) => code.to_string(),
            None => "-".to_owned(),
        };
        let mut text = line(
            if self.holds() { "ok" } else { "NO" },
            &self.kind.name(),
            words(self.kind.foul()),
            &both(words(first.foul).to_owned(), words(second.foul).to_owned()),
            &both(code(SEATS[0]), code(SEATS[1])),
        );
        let mut more = vec![self.kind.does(), first.words.clone()];
        // The evidence from the other seat is mostly the same.
        if !self.holds() || first.foul != second.foul {
            more.push(second.words.clone());
        }
        for (seat, answer) in SEATS.iter().zip(&self.seats) {
            if let Some(unjust) = &answer.unjust {
                more.push(format!("the honest bot in seat {}: {unjust}", seat.other()));
            }
        }
        for more in more {
            let one_line = more.split_whitespace().collect::<Vec<_>>().join(" ");
            text.push('\n');
            text.push_str(&report::wrapped(&format!("     {one_line}")));
        }
        text.push('\n');
        text
    }

    fn event(&self) -> serde_json::Value {
        let seats = SEATS.iter().zip(&self.seats).map(|(&seat, answer)| {
            json!({
                "seat": seat.index(),
                "foul": answer.foul,
                "code": answer.code(seat),
                "evidence": answer.words,
                "honest_foul": answer.unjust,
            })
        });
        json!({
            "type": "villain",
            "kind": self.kind.name(),
            "does": self.kind.does(),
            "expected": self.kind.foul(),
            "seats": seats.collect::<Vec<_>>(),
            "holds": self.holds(),
        })
    }
}

const fn words(foul: Option<FoulKind>) -> &'static str {
    match foul {
        Some(foul) => foul.words(),
        None => "no foul",
    }
}

fn line(ok: &str, villain: &str, expected: &str, answered: &str, code: &str) -> String {
    let line = format!("{ok:<2} {villain:<21} {expected:<14} {answered:<29} {code}");
    line.trim_end().to_owned()
}
