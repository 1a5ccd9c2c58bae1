//! Games that were played elsewhere: whether a record is of the game that was leased. A result
//! is what its record says, and never what a worker says.

use arena_events::tournament::FaultKind;
use referee_core::{Event, Outcome, Record, Seat, SeatFoul, Verdict, pack, printable};
use referee_games::{BEHAVIOR_VERSION, verify};
use referee_worker::{Summary, lease::GameKey};

use crate::{Dispatcher, Plan, Results, dispatch::ChunkGame, expected::Expected};

impl<R: Results> Dispatcher<R> {
    /// What came of a game, as its packed record says. None where the game is not to be played
    /// any more. This computes and waits for nothing: it belongs on a thread of its own.
    ///
    /// # Errors
    ///
    /// The record is not of this game; or, where it is replayed, the game was not played so.
    pub fn examine(
        &self,
        key: GameKey,
        packed: &[u8],
        replays: bool,
    ) -> Result<Option<Summary>, FaultKind> {
        let Some(planned) = self.planned(key) else {
            return Ok(None);
        };
        let text = pack::unpack(packed).map_err(|error| unreadable(&error))?;
        let parsed = Record::parse_sealed(&text);
        let (record, play_hash) = parsed.map_err(|error| unreadable(&error))?;
        let record = record.printable();
        check(self.plan(), &planned, &record)?;
        if replays {
            verify(&record).map_err(|error| FaultKind::DoesNotReplay {
                error: printable(&error.to_string()),
            })?;
        }
        Ok(Some(Summary::of(&record, play_hash)))
    }
}

fn unreadable(error: &dyn std::error::Error) -> FaultKind {
    FaultKind::UnreadableRecord {
        error: printable(&error.to_string()),
    }
}

/// Whether a record is of the game that was leased.
fn check(plan: &Plan, planned: &ChunkGame, record: &Record) -> Result<(), FaultKind> {
    let header = &record.header;
    let assigned = plan.assignment(&planned.group, planned.seating, &planned.order);
    let info = plan.kind.info();
    let versions = (header.rules_version, header.behavior_version);
    if versions != (info.rules_version, BEHAVIOR_VERSION) {
        return Err(FaultKind::WrongGameOrLimits);
    }
    if header.spent.seats() != 0 {
        return Err(FaultKind::WrongSetup);
    }
    let lineup = &planned.group.lineup;
    let seats = || planned.order.iter().map(|&place| (lineup[place], place));
    let expected = Expected {
        game: &plan.definition.game,
        limits: &plan.definition.limits,
        seed: assigned.seed,
        scheduled: Some((assigned.game_id, &assigned.setup)),
        players: seats()
            .map(|(who, place)| plan.player(who, place))
            .collect(),
        identities: seats().map(|(who, _)| plan.lasting_identity(who)).collect(),
    };
    expected.check(header)?;
    match &record.result.verdict {
        Verdict::Finished { outcome, fouls } if is_whole(record, outcome, fouls) => Ok(()),
        Verdict::Finished { .. } => Err(FaultKind::WrongResult),
        Verdict::Void { .. } => Err(FaultKind::VoidGame),
    }
}

/// Whether everything in a record is of a seat that the game has, and each seat has what it
/// must have: without a replay nothing else has looked at it.
fn is_whole(record: &Record, outcome: &Outcome, fouls: &[SeatFoul]) -> bool {
    let seats = usize::from(record.header.players.seats());
    let is_seat = |seat: &Seat| seat.index() < seats;
    let places = outcome.places.as_slice();
    let answered = record.events.iter().filter_map(|event| match event {
        Event::Answered { seat, .. } => Some(seat),
        _ => None,
    });
    places.len() == seats
        && (places.iter()).all(|place| (1..=seats).contains(&usize::from(*place)))
        && outcome.scores.as_slice().len() == seats
        && record.result.thought_us.as_slice().len() == seats
        && fouls.iter().all(|foul| is_seat(&foul.seat))
        && answered.into_iter().all(is_seat)
}
