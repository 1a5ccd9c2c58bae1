//! `arena check-referee`: every villain against an honest bot, and whether the
//! referee answers as it should.

use anyhow::Context as _;
use arena_check::referee::{
    RefereeError, RefereeUnderTest, SEATS, VillainCase, VillainCases, VillainGame, VillainResult,
    check_referee,
};
use arena_events::{
    Event,
    check::{RefereeCheckedEvent, VillainEvent, VillainSeat},
};
use arena_terminal::Format;
use arena_tournament::{events, find_game};
use clap::Args;
use referee::Address;
use referee::referee_threads;
use referee_bots::{BotOptions, Entry, LaunchContext, LaunchOptions};
use referee_core::{Foul, FoulKind, Seat};
use referee_worker::Stop;
use villains::Kind;

use crate::{
    End,
    bots::schemes,
    classic,
    report::{self, plural},
    stop, usage,
};

/// Plays every bot that misbehaves against an honest one, from either seat, and
/// shows what the referee says. Exit code 1 if it does not say what is expected.
#[derive(Args)]
pub(crate) struct CheckReferee {
    /// Only this kind; may be given several times. `arena villain --help` lists them
    /// [default: all].
    #[arg(
        long = "kind",
        value_name = "KIND",
        value_enum,
        hide_possible_values = true
    )]
    kinds: Vec<Kind>,
    /// Check a referee that runs as `referee serve` instead of the one in this program.
    #[arg(long, value_name = "HOST:PORT")]
    referee: Option<String>,
    /// The name or address of this machine at which that referee reaches the villains.
    #[arg(long, default_value = "127.0.0.1", requires = "referee")]
    host: String,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl CheckReferee {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let kinds = self.kinds()?;
        let villains = villains_of(&kinds)?;
        let referee = self.referee()?;
        let stop = stop::on_signals(None)?;
        let directory = std::env::current_dir().context("the folder of this process is gone")?;
        let context = LaunchOptions::new(referee_cli::Hidden::supervisor()?).open(directory)?;
        self.try_all(&kinds, &villains, &referee, &context, &stop)
            .await
    }

    /// Those that were typed, or all; a referee that starts no bot can't tell how one starts.
    fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        let all = self.kinds.is_empty();
        let mut kinds = Kind::all().to_vec();
        kinds.retain(|kind| all || self.kinds.contains(kind));
        if self.referee.is_none() {
            return Ok(kinds);
        }
        if !all && let Some(kind) = kinds.iter().find(|kind| kind.is_for_the_starter()) {
            return usage(format!(
                "--kind {}: only the program that starts a bot can see this; leave out --referee",
                kind.name()
            ));
        }
        kinds.retain(|kind| !kind.is_for_the_starter());
        Ok(kinds)
    }

    fn referee(&self) -> anyhow::Result<RefereeUnderTest> {
        let Some(referee) = &self.referee else {
            let threads = referee_threads();
            return Ok(RefereeUnderTest::Local { threads });
        };
        let address = referee.parse::<Address>();
        match address.or_else(|_| format!("tcp:{referee}").parse()) {
            Ok(Address::Tls(_)) => usage(format!(
                "--referee {referee}: expected HOST:PORT without TLS: start the referee that is \
                 checked without --tls-cert"
            )),
            Ok(address) => Ok(RefereeUnderTest::Remote {
                address,
                host: self.host.clone(),
            }),
            Err(_) => usage(format!(
                "--referee {referee}: expected HOST:PORT, where `referee serve` listens"
            )),
        }
    }

    /// Shows each in order, as soon as those before it are known.
    async fn try_all(
        &self,
        kinds: &[Kind],
        villains: &VillainCases,
        referee: &RefereeUnderTest,
        context: &LaunchContext,
        stop: &Stop,
    ) -> anyhow::Result<End> {
        let mut next = kinds.iter();
        let mut wrong = Vec::new();
        let each = |result: VillainResult| {
            let kind = next.next().context("a villain that is not in the list")?;
            if kind == &kinds[0] && self.format == Format::Text {
                report::heading(&line("", "villain", "expected", "answered", "code"))?;
            }
            if !result.holds() {
                wrong.push(result.name.clone());
            }
            match self.format {
                Format::Text => report::text(&text(&result, &kind.does())),
                Format::Json => report::event(Event::Villain(event(&result, &kind.does()))),
            }
        };
        let tried = check_referee(referee, villains, context, stop, each).await;
        let tried = tried.or_else(|error: anyhow::Error| self.explained(error))?;
        if tried < kinds.len() {
            self.stopped(tried, kinds.len(), &wrong)?;
            return Ok(End::Interrupted);
        }
        self.close(tried, &wrong)?;
        Ok(if wrong.is_empty() { End::Done } else { End::No })
    }

    /// The same error; where an option is to blame, with the option.
    fn explained<T>(&self, error: anyhow::Error) -> anyhow::Result<T> {
        match (error.downcast_ref::<RefereeError>(), &self.referee) {
            (Some(RefereeError::NotReached { .. }), Some(referee)) => {
                usage(format!("--referee {referee}: {error}"))
            }
            (Some(RefereeError::Host { .. }), _) => usage(format!("--host {}: {error}", self.host)),
            _ => Err(error),
        }
    }

    /// Says how many were tried, which is no verdict.
    fn stopped(&self, tried: usize, of: usize, wrong: &[String]) -> anyhow::Result<()> {
        if self.format == Format::Json {
            return Ok(());
        }
        let mut words = format!(
            "stopped before the end: {tried} of {}",
            plural(of as u64, "villain")
        );
        if !wrong.is_empty() {
            words += &format!("; not answered as expected: {}", wrong.join(", "));
        }
        report::text(&format!("\n{}\n", report::wrapped(&words)))
    }

    /// Sums up.
    fn close(&self, tried: usize, wrong: &[String]) -> anyhow::Result<()> {
        let all = self.kinds.is_empty();
        let not_tried = Kind::all().iter().filter(|kind| kind.is_for_the_starter());
        let not_tried: Vec<String> = match self.referee.is_some() && all {
            true => not_tried.map(|kind| kind.name()).collect(),
            false => Vec::new(),
        };
        if self.format == Format::Json {
            return report::event(Event::RefereeChecked(RefereeCheckedEvent {
                villains: tried as u64,
                holds: wrong.is_empty(),
                wrong: wrong.to_vec(),
                not_tried,
            }));
        }
        let tried = plural(tried as u64, "villain");
        let words = match wrong {
            [] => format!("{tried}, each from either seat: answered as expected"),
            wrong => format!("{tried}, not answered as expected: {}", wrong.join(", ")),
        };
        report::text(&format!("\n{}\n", report::wrapped(&words)))?;
        if !not_tried.is_empty() {
            let words = format!(
                "not tried, because only the program that starts a bot can see them: {}",
                not_tried.join(", ")
            );
            report::line(&words)?;
        }
        Ok(())
    }
}

/// The villains as the check wants them: each is this program, started as one.
fn villains_of(kinds: &[Kind]) -> anyhow::Result<VillainCases> {
    let schemes = schemes()?;
    let program = std::env::current_exe()?;
    let program = program.to_str().context("the arena's path is no text")?;
    let entry = |kind: Kind, arguments: &[&str]| {
        let kind = kind.name();
        let words = [program, "villain", &kind].into_iter();
        let command = shlex::try_join(words.chain(arguments.iter().copied()))?;
        anyhow::Ok(Entry::read(&format!("{kind}=exec:{command}"), &schemes)?)
    };
    let villain = |kind: &Kind| {
        let game = kind.test_game();
        Ok(VillainCase {
            entry: entry(*kind, game.arguments)?,
            expected: kind.foul(),
            setup: serde_json::from_str(game.setup)?,
            limits: game.limits,
            options: BotOptions {
                start_limit: game.listens_within,
                memory_limit: game.memory_limit,
                measure_memory: false,
                directory: None,
            },
        })
    };
    Ok(VillainCases {
        game: find_game(villains::GAME)?,
        honest: entry(Kind::Honest, &[])?,
        villains: kinds.iter().map(villain).collect::<anyhow::Result<_>>()?,
    })
}

/// The code of the classic report, where there is a foul.
fn code(game: &VillainGame, seat: Seat) -> Option<i32> {
    let foul = game.foul.as_ref()?.kind();
    Some(classic::foul_code(foul, i32::try_from(seat.index()).ok()?))
}

/// The foul with its evidence, or how the game ended.
fn evidence(game: &VillainGame) -> String {
    match (&game.foul, &game.reason) {
        (Some(foul), _) => foul.to_string(),
        (None, Some(reason)) => format!("played to its end: {reason}"),
        (None, None) => "void".to_owned(),
    }
}

/// A line, and below it what the villain does and what the referee says of it.
fn text(result: &VillainResult, does: &str) -> String {
    let [first, second] = &result.seats;
    let kinds = [first, second].map(|game| game.foul.as_ref().map(Foul::kind));
    let both = |[first, second]: [String; 2]| match first == second {
        true => first,
        false => format!("{first}, {second}"),
    };
    let codes = SEATS.map(|seat| match code(&result.seats[seat.index()], seat) {
        Some(code) => code.to_string(),
        None => "-".to_owned(),
    });
    let mut text = line(
        if result.holds() { "ok" } else { "NO" },
        &result.name,
        words(result.expected),
        &both(kinds.map(|kind| words(kind).to_owned())),
        &both(codes),
    );
    let mut more = vec![does.to_owned(), evidence(first)];
    // The evidence from the other seat is mostly the same.
    if !result.holds() || kinds[0] != kinds[1] {
        more.push(evidence(second));
    }
    for (seat, game) in SEATS.iter().zip(&result.seats) {
        if let Some(foul) = &game.honest_foul {
            more.push(format!("the honest bot in seat {}: {foul}", seat.other()));
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

fn event(result: &VillainResult, does: &str) -> VillainEvent {
    let seats = SEATS
        .iter()
        .zip(&result.seats)
        .map(|(&seat, game)| VillainSeat {
            seat: seat.index() as u8,
            foul: game.foul.as_ref().map(events::evidence),
            code: code(game, seat),
            reason: match game.foul {
                Some(_) => None,
                None => game.reason.clone(),
            },
            honest_foul: game.honest_foul.as_ref().map(events::evidence),
        });
    VillainEvent {
        kind: result.name.clone(),
        does: does.to_owned(),
        expected: result.expected.map(events::foul_name),
        seats: seats.collect(),
        holds: result.holds(),
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn result(expected: Option<FoulKind>, fouls: [Option<Foul>; 2]) -> VillainResult {
        VillainResult {
            name: "crash".to_owned(),
            expected,
            seats: fouls.map(|foul| VillainGame {
                foul,
                reason: Some("four in a row".to_owned()),
                honest_foul: None,
            }),
        }
    }

    #[test]
    fn a_foul_of_the_honest_bot_is_shown() {
        let mut honest = result(None, [None, None]);
        let limit = Duration::from_secs(3);
        honest.seats[1].honest_foul = Some(Foul::Late { limit });
        let shown = text(&honest, "Nothing.");
        assert!(shown.starts_with("NO crash "), "{shown}");
        let says = "     the honest bot in seat 0: no answer within 3s\n";
        assert!(shown.contains(says), "{shown}");
    }

    #[test]
    fn what_is_not_as_expected_is_shown_from_either_seat() {
        let limit = Duration::from_secs(3);
        let crashed = Foul::Crashed {
            detail: "by a signal\nand how".to_owned(),
        };
        let fouls = [Some(Foul::Late { limit }), Some(crashed)];
        let shown = result(Some(FoulKind::Crashed), fouls);
        assert_eq!(
            text(&shown, "Aborts."),
            "NO crash                 crashed        late, crashed                 7, 5
     Aborts.
     no answer within 3s
     crashed: by a signal and how\n"
        );
        let event = event(&shown, "Aborts.");
        assert!(!event.holds);
        assert_eq!(event.seats[0].code, Some(7));
    }
}
