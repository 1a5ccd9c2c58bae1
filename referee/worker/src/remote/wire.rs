//! Messages of `arena.v1.Dispatch` and the owned messages of [`crate::lease`], turned into
//! each other. What comes from the network is checked here: nothing else trusts it.

use std::time::Duration;

use arena_proto::arena::v1 as proto;
use referee::Live;
use referee_core::{JsonBounds, Limits, Seat, Seed};
use referee_net::AddressPattern;

use crate::{
    Machine,
    lease::{
        Assignment, ChunkId, GameKey, GiveBack, Lease, LeaseId, LeasedBot, LiveUpdate, ReportReply,
        RunId, Scope, SessionId,
    },
};
use referee_bots::{BotOptions, Entry, Schemes};

/// The version of the service; it grows when messages change their meaning.
pub const PROTOCOL: u32 = 3;

/// Reason why a message can't be used: what was expected, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadMessage(String);

impl BadMessage {
    pub(super) const fn new(why: String) -> Self {
        Self(why)
    }
}

fn bad<T>(why: impl Into<String>) -> Result<T, BadMessage> {
    Err(BadMessage(why.into()))
}

/// A field that must be there.
fn field<T>(value: Option<T>, name: &str) -> Result<T, BadMessage> {
    value.ok_or_else(|| BadMessage(format!("{name}: it is missing")))
}

/// A length of time that is not negative.
///
/// # Errors
///
/// What was found.
pub fn duration(value: Option<prost_types::Duration>, name: &str) -> Result<Duration, BadMessage> {
    let value = field(value, name)?.normalized();
    let time = u64::try_from(value.seconds)
        .ok()
        .zip(u32::try_from(value.nanos).ok())
        .map(|(seconds, nanos)| Duration::new(seconds, nanos));
    time.filter(|time| *time <= Limits::LONGEST)
        .ok_or_else(|| BadMessage(format!("{name}: expected a time of at most 365 days")))
}

/// A length of time as a message has it; a year at most.
#[must_use]
pub fn from_duration(time: Duration) -> prost_types::Duration {
    let time = time.min(Limits::LONGEST);
    prost_types::Duration {
        seconds: time.as_secs().cast_signed(),
        nanos: time.subsec_nanos().cast_signed(),
    }
}

/// A session.
///
/// # Errors
///
/// It has not 16 bytes.
pub fn session(bytes: &[u8]) -> Result<SessionId, BadMessage> {
    match <[u8; 16]>::try_from(bytes) {
        Ok(bytes) => Ok(SessionId(bytes)),
        Err(_) => bad(format!("session: expected 16 bytes, found {}", bytes.len())),
    }
}

/// A lease as a message names it.
#[must_use]
pub fn from_lease_id(id: LeaseId) -> proto::LeaseId {
    proto::LeaseId {
        run: id.run.0,
        chunk: Some(proto::Chunk {
            matchup: id.chunk.matchup,
            first_group: id.chunk.first_group,
            groups: id.chunk.groups,
            seating: id.chunk.seating,
        }),
        attempt: id.attempt,
    }
}

/// The lease that a message names.
///
/// # Errors
///
/// A part of it is missing.
pub fn lease_id(id: Option<proto::LeaseId>) -> Result<LeaseId, BadMessage> {
    let id = field(id, "lease")?;
    let chunk = field(id.chunk, "lease.chunk")?;
    Ok(LeaseId {
        run: RunId(id.run),
        chunk: ChunkId {
            matchup: chunk.matchup,
            first_group: chunk.first_group,
            groups: chunk.groups,
            seating: chunk.seating,
        },
        attempt: id.attempt,
    })
}

/// A game as a message names it.
#[must_use]
pub const fn from_key(key: GameKey) -> proto::GameKey {
    proto::GameKey {
        group: key.group,
        seating: key.seating,
    }
}

/// The game that a message names.
///
/// # Errors
///
/// It is missing.
pub fn key(key: Option<proto::GameKey>) -> Result<GameKey, BadMessage> {
    let key = field(key, "key")?;
    Ok(GameKey {
        group: key.group,
        seating: key.seating,
    })
}

/// A part of the work, as a message has it.
#[must_use]
pub fn from_scope(scope: Scope) -> proto::Scope {
    proto::Scope {
        tournament: scope.tournament,
        matchup: scope.matchup,
    }
}

/// The part of the work that a message asks for.
#[must_use]
pub fn scope(scope: proto::Scope) -> Scope {
    Scope {
        tournament: scope.tournament,
        matchup: scope.matchup,
    }
}

/// A machine as a message describes it.
#[must_use]
pub fn from_machine(machine: &Machine) -> proto::Machine {
    proto::Machine {
        host: machine.host.clone(),
        cores: machine.cores,
        memory_mib: machine.memory_mib,
        games_at_once: machine.games_at_once,
        provides: machine.provides.iter().cloned().collect(),
        isolation: machine.isolation.clone(),
        isolated: machine.isolated,
        bots: machine.bots.patterns().map(ToString::to_string).collect(),
    }
}

/// The machine that a message describes, which plays these games.
#[must_use]
pub fn machine(machine: proto::Machine, games: impl IntoIterator<Item = String>) -> Machine {
    Machine {
        host: machine.host,
        cores: machine.cores,
        memory_mib: machine.memory_mib,
        games_at_once: machine.games_at_once,
        games: games.into_iter().collect(),
        provides: machine.provides.into_iter().collect(),
        isolation: machine.isolation,
        isolated: machine.isolated,
        // What this version can't read allows nothing.
        bots: machine
            .bots
            .iter()
            .filter_map(|pattern| pattern.parse::<AddressPattern>().ok())
            .collect(),
    }
}

/// The version of this program, and of the rules that it plays by.
#[must_use]
pub fn own_version() -> proto::Version {
    let rules = referee_games::GAMES.iter().map(|kind| {
        let info = kind.info();
        (info.name.to_owned(), info.rules_version)
    });
    proto::Version {
        protocol: PROTOCOL,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        behavior: referee_games::BEHAVIOR_VERSION,
        rules: rules.collect(),
    }
}

/// A lease as a message has it.
#[must_use]
pub fn from_lease(lease: &Lease) -> proto::Lease {
    let limits = &lease.limits;
    proto::Lease {
        id: Some(from_lease_id(lease.id)),
        valid_for: Some(from_duration(lease.valid_for)),
        game: lease.game.clone(),
        limits: Some(proto::GameLimits {
            start: Some(from_duration(limits.start)),
            r#move: Some(from_duration(limits.per_move)),
            budget: limits.budget.map(from_duration),
            answer_bytes: limits.answer_bytes as u64,
        }),
        bots: lease.bots.iter().map(from_bot).collect(),
        fresh_processes: lease.fresh_processes,
        series: lease.series,
        live: lease.live,
        games: lease.games.iter().map(from_assignment).collect(),
        logs: lease.logs,
    }
}

fn from_bot(bot: &LeasedBot) -> proto::LeasedBot {
    proto::LeasedBot {
        name: bot.name.clone(),
        spec: bot.entry.spec.clone(),
        memory_limit: bot.options.memory_limit,
        measure_memory: bot.options.measure_memory,
        budget: bot.budget,
    }
}

fn from_assignment(game: &Assignment) -> proto::Assignment {
    proto::Assignment {
        key: Some(from_key(game.key)),
        game_id: game.game_id.clone(),
        setup_json: game.setup.to_string(),
        seed: game.seed.bytes().to_vec().into(),
        order: game.order.iter().map(|&place| place as u32).collect(),
    }
}

/// The lease that a message has, with its bots read by these schemes.
///
/// # Errors
///
/// What is wrong with it.
pub fn lease(lease: proto::Lease, schemes: &Schemes) -> Result<Lease, BadMessage> {
    let limits = field(lease.limits, "limits")?;
    let limits = Limits {
        start: duration(limits.start, "limits.start")?,
        per_move: duration(limits.r#move, "limits.move")?,
        budget: match limits.budget {
            Some(budget) => Some(duration(Some(budget), "limits.budget")?),
            None => None,
        },
        answer_bytes: usize::try_from(limits.answer_bytes).unwrap_or(usize::MAX),
    };
    let bots = lease.bots.into_iter().map(|bot| {
        let named = Entry::check_name(&bot.name);
        named.map_err(|error| BadMessage(format!("bots: {error}")))?;
        let entry = Entry::read(&format!("bot={}", bot.spec), schemes);
        let entry = entry.map_err(|error| BadMessage(format!("bots: {error}")))?;
        Ok(LeasedBot {
            entry: entry.renamed(bot.name.clone()),
            name: bot.name,
            options: BotOptions {
                start_limit: limits.start,
                memory_limit: bot.memory_limit,
                measure_memory: bot.measure_memory,
                directory: None,
            },
            budget: bot.budget,
        })
    });
    let bots = bots.collect::<Result<Vec<_>, _>>()?;
    let seats = bots.len();
    let games = lease.games.into_iter();
    Ok(Lease {
        id: lease_id(lease.id)?,
        valid_for: duration(lease.valid_for, "valid_for")?,
        game: lease.game,
        limits,
        fresh_processes: lease.fresh_processes,
        series: lease.series,
        records: true,
        logs: lease.logs,
        live: lease.live,
        games: games
            .map(|game| assignment(game, seats))
            .collect::<Result<_, _>>()?,
        bots,
    })
}

fn assignment(game: proto::Assignment, seats: usize) -> Result<Assignment, BadMessage> {
    let Ok(seed) = <[u8; 32]>::try_from(&game.seed[..]) else {
        return bad(format!(
            "seed: expected 32 bytes, found {}",
            game.seed.len()
        ));
    };
    let order: Vec<usize> = game.order.iter().map(|&place| place as usize).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..seats) {
        return bad("order: expected each place of the lineup once");
    }
    let setup = JsonBounds::SETUP.read(game.setup_json.as_bytes());
    Ok(Assignment {
        key: key(game.key)?,
        game_id: game.game_id,
        setup: setup.map_err(|error| BadMessage(format!("setup_json: {error}")))?,
        seed: Seed::new(seed),
        order,
    })
}

/// A chunk that is given back, as a message has it.
#[must_use]
pub fn from_give_back(session: SessionId, give_back: &GiveBack) -> proto::GiveBackRequest {
    let memory = give_back.memory.iter();
    proto::GiveBackRequest {
        session: session.0.to_vec().into(),
        lease: Some(from_lease_id(give_back.lease)),
        unplayed: give_back.unplayed.iter().copied().map(from_key).collect(),
        memory: memory
            .map(|peak| proto::MemoryPeak { bytes: *peak })
            .collect(),
    }
}

/// The chunk that a message gives back.
///
/// # Errors
///
/// A part of it is missing.
pub fn give_back(message: proto::GiveBackRequest) -> Result<GiveBack, BadMessage> {
    let unplayed = message.unplayed.into_iter();
    Ok(GiveBack {
        lease: lease_id(message.lease)?,
        unplayed: unplayed
            .map(|unplayed| key(Some(unplayed)))
            .collect::<Result<_, _>>()?,
        memory: message.memory.iter().map(|peak| peak.bytes).collect(),
    })
}

/// The reply to a reported game, as a message has it.
#[must_use]
pub const fn from_reply(reply: ReportReply) -> proto::Reported {
    match reply {
        ReportReply::Accepted => proto::Reported::Accepted,
        ReportReply::Duplicate => proto::Reported::Duplicate,
        ReportReply::Stale => proto::Reported::Stale,
        ReportReply::Ended => proto::Reported::Ended,
        ReportReply::NotHeld => proto::Reported::NotHeld,
        ReportReply::Away => proto::Reported::Away,
    }
}

/// The reply to a reported game.
///
/// # Errors
///
/// The arena is of a later version.
pub fn reply(reply: i32) -> Result<ReportReply, BadMessage> {
    match proto::Reported::try_from(reply) {
        Ok(proto::Reported::Accepted) => Ok(ReportReply::Accepted),
        Ok(proto::Reported::Duplicate) => Ok(ReportReply::Duplicate),
        Ok(proto::Reported::Stale) => Ok(ReportReply::Stale),
        Ok(proto::Reported::Ended) => Ok(ReportReply::Ended),
        Ok(proto::Reported::NotHeld) => Ok(ReportReply::NotHeld),
        Ok(proto::Reported::Away) => Ok(ReportReply::Away),
        Ok(proto::Reported::Unspecified) | Err(_) => {
            bad(format!("games: there is no reply number {reply}"))
        }
    }
}

/// A public event of a running game, as a message has it.
#[must_use]
pub fn from_live(update: LiveUpdate) -> proto::LiveUpdate {
    let event = match update.live {
        Live::Started => proto::live_update::Event::Started(proto::GameStarted {
            game_id: update.game_id,
        }),
        Live::Played {
            seat,
            number,
            notation,
            thought,
        } => proto::live_update::Event::Played(proto::Played {
            seat: seat.index() as u32,
            number,
            notation,
            thought: Some(from_duration(thought)),
        }),
    };
    proto::LiveUpdate {
        lease: Some(from_lease_id(update.lease)),
        key: Some(from_key(update.key)),
        event: Some(event),
    }
}

/// The public event of a running game that a message has: its lease, the game, and what
/// happened.
///
/// # Errors
///
/// A part of it is missing or has no sense.
pub fn live(update: proto::LiveUpdate) -> Result<(LeaseId, GameKey, Live), BadMessage> {
    let live = match field(update.event, "event")? {
        proto::live_update::Event::Started(_) => Live::Started,
        proto::live_update::Event::Played(played) => {
            let Ok(seat) = u8::try_from(played.seat) else {
                return bad("played.seat: expected less than 256");
            };
            Live::Played {
                seat: Seat::new(seat),
                number: played.number,
                notation: referee_core::printable(&played.notation),
                thought: duration(played.thought, "played.thought")?,
            }
        }
    };
    Ok((lease_id(update.lease)?, key(update.key)?, live))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease_of(name: &str) -> proto::Lease {
        let second = || Some(from_duration(Duration::from_secs(1)));
        proto::Lease {
            id: Some(proto::LeaseId {
                run: 1,
                chunk: Some(proto::Chunk::default()),
                attempt: 1,
            }),
            valid_for: second(),
            game: "connect_four".to_owned(),
            limits: Some(proto::GameLimits {
                start: second(),
                r#move: second(),
                budget: None,
                answer_bytes: 1000,
            }),
            bots: vec![proto::LeasedBot {
                name: name.to_owned(),
                spec: "exec:bot".to_owned(),
                ..proto::LeasedBot::default()
            }],
            ..proto::Lease::default()
        }
    }

    #[test]
    fn a_lease_whose_bot_is_called_by_a_path_is_refused() {
        let schemes = Schemes::with(Vec::new());
        for name in ["uct", "filler-1", "самый_лучший"] {
            assert_eq!(lease(lease_of(name), &schemes).unwrap().bots[0].name, name);
        }
        let long = "x".repeat(41);
        for name in [
            "",
            ".",
            "..",
            "../../x",
            "/tmp/x",
            "a/b",
            "a\0b",
            "a\nb",
            "\u{1b}[2J",
            &long,
        ] {
            let refused = lease(lease_of(name), &schemes).unwrap_err().to_string();
            assert!(refused.contains("a name is 1 to 40"), "{name:?}: {refused}");
        }
    }
}
