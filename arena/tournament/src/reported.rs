//! Games that were played elsewhere: whether a record is of the game that was leased. A result
//! is what its record says, and never what a worker says.

use std::time::Duration;

use arena_events::tournament::FaultKind;
use referee_core::{Event, GameInfo, Outcome, Record, Seat, SeatFoul, Verdict, pack, printable};
use referee_games::{BEHAVIOR_VERSION, verify};
use referee_worker::{Summary, lease::GameKey};

use crate::{Dispatcher, Plan, Results, dispatch::PlannedGame, expected::ExpectedHeader};

/// The most by which an answer, or the end of waiting for one, may have come later than its limit:
/// a referee's machine that stood still for longer has played no game.
const LATEST: Duration = Duration::from_secs(3600);

impl<R: Results> Dispatcher<R> {
    /// The summary of a game, as its packed record says. None where the game is not to be played
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

/// Checks that a record is of the game that was leased.
fn check(plan: &Plan, planned: &PlannedGame, record: &Record) -> Result<(), FaultKind> {
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
    let expected = ExpectedHeader {
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
        Verdict::Finished { outcome, fouls }
            if is_whole(record, outcome, fouls)
                && scores_are_possible(info, outcome)
                && times_are_possible(info, record) =>
        {
            Ok(())
        }
        Verdict::Finished { .. } => Err(FaultKind::ImpossibleResult),
        Verdict::Void { .. } => Err(FaultKind::VoidGame),
    }
}

/// True if each score is one that a seat of this game can have.
fn scores_are_possible(info: &GameInfo, outcome: &Outcome) -> bool {
    let (least, most) = info.scores;
    let mut scores = outcome.scores.as_slice().iter();
    scores.all(|score| (least..=most).contains(score))
}

/// True if each time is one that its limit allows, each seat has thought as long as its answers
/// took, and there are no more answers than the game has questions.
fn times_are_possible(info: &GameInfo, record: &Record) -> bool {
    let limits = &record.header.limits;
    let limit = |number| match number {
        0 => limits.start,
        _ => limits.per_move,
    };
    let seats = usize::from(record.header.players.seats());
    let mut number = vec![0; seats];
    let mut thought_us = vec![0_u128; seats];
    let mut answers = 0;
    // A foul directly after an answer is the referee's judgement of that answer.
    let mut answered = None;
    for event in &record.events {
        let judged = answered.take();
        let (seat, thought) = match event {
            Event::Told { .. } => continue,
            Event::Asked {
                seat,
                number: asked,
                ..
            } => {
                number[seat.index()] = *asked;
                continue;
            }
            Event::Answered {
                seat,
                number,
                thought,
                excused,
                ..
            } => {
                if *thought >= limit(*number) || *excused > LATEST {
                    return false;
                }
                answered = Some(*seat);
                (*seat, *thought)
            }
            Event::Fouled { seat, .. } if judged == Some(*seat) => continue,
            Event::Fouled { seat, thought, .. } => {
                if *thought > limit(number[seat.index()]) + LATEST {
                    return false;
                }
                (*seat, *thought)
            }
        };
        if number[seat.index()] > 0 {
            answers += 1;
            thought_us[seat.index()] += thought.as_micros();
        }
    }
    let said = record.result.thought_us.as_slice().iter();
    let said = said.map(|thought| u128::from(*thought));
    let most = info.most_questions as usize;
    let is_within = |budget: Duration| {
        let most = (budget + limits.per_move + LATEST).as_micros();
        thought_us.iter().all(|thought| *thought <= most)
    };
    answers <= most && said.eq(thought_us.iter().copied()) && limits.budget.is_none_or(is_within)
}

/// True if everything in a record is of a seat that the game has, and each seat has what it must
/// have: without a replay nothing else has looked at it.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use referee_bots::{Entry, Schemes};
    use referee_core::{PerSeat, Root};
    use referee_games::{Fixture, Sitting};
    use referee_worker::{
        Abilities,
        lease::{Lease, LeaseReply, LeaseRequest},
    };
    use serde_json::json;

    use super::*;
    use crate::{Definition, DispatchOptions, MemoryResults, RunCounters, Silent};

    /// A match of a game, and a lease of its games.
    async fn leased(game: &str) -> (Dispatcher<MemoryResults>, Lease) {
        let kind = referee_games::game(game).unwrap();
        let setup = kind.setup(&json!(null)).unwrap();
        let definition = Definition {
            deals: 2,
            filler: "exec:filler".to_owned(),
            ..Definition::round_robin(game, vec![setup])
        };
        let schemes = Schemes::with(Vec::new());
        let bots = (0..kind.info().seats).map(|bot| format!("bot-{bot}=exec:bot"));
        let bots: Vec<String> = bots.collect();
        let entries = Entry::read_all(&bots, &schemes).unwrap();
        let plan = Plan::new(definition, entries, Root::new([7; 32]), &schemes).unwrap();
        let dispatcher = Dispatcher::open(
            Arc::new(plan),
            MemoryResults::new(),
            DispatchOptions::default(),
            Arc::new(Silent),
            Arc::new(RunCounters::default()),
        );
        let dispatcher = dispatcher.await.unwrap();
        let request = LeaseRequest {
            session: None,
            can: Arc::new(Abilities::Local),
            scope: None,
            worker: "worker".to_owned(),
            games: 4,
        };
        match dispatcher.try_lease(&request, None).await.unwrap() {
            LeaseReply::Work(lease) => (dispatcher, *lease),
            reply => panic!("{reply:?}"),
        }
    }

    /// The first game of a lease, played by chance.
    fn played(lease: &Lease) -> Record {
        let game = &lease.games[0];
        let names = game
            .order
            .iter()
            .map(|place| lease.bots[*place].name.clone());
        let sitting = Sitting::new(Fixture {
            kind: referee_games::game(&lease.game).unwrap(),
            game_id: game.game_id.clone(),
            setup: game.setup.clone(),
            seed: game.seed,
            players: names.collect::<Vec<_>>().into(),
            limits: lease.limits,
            spent: PerSeat::default(),
        });
        sitting
            .unwrap()
            .play_out(|_, number, legal| number as usize % legal)
    }

    /// A way to change a record, and whether it may still be one of its game.
    type Forgery = (&'static str, fn(&mut Record));

    fn outcome(record: &mut Record) -> &mut Outcome {
        match &mut record.result.verdict {
            Verdict::Finished { outcome, .. } => outcome,
            verdict => panic!("{verdict:?}"),
        }
    }

    /// The last answer of a record: how long it took, and what of it is excused.
    fn last_answer(record: &mut Record) -> (&mut Duration, &mut Duration) {
        let mut events = record.events.iter_mut().rev();
        let last = events.find_map(|event| match event {
            Event::Answered {
                thought, excused, ..
            } => Some((thought, excused)),
            _ => None,
        });
        last.unwrap()
    }

    #[tokio::test]
    async fn a_record_that_is_not_replayed_claims_no_score_and_no_time_that_its_game_has_not() {
        const FORGERIES: [Forgery; 9] = [
            ("the highest score", |record| {
                outcome(record).scores[Seat::new(0)] = i32::MAX;
            }),
            ("the lowest score", |record| {
                outcome(record).scores[Seat::new(1)] = i32::MIN;
            }),
            ("the longest time", |record| {
                record.result.thought_us[Seat::new(0)] = u64::MAX;
            }),
            ("no time", |record| {
                record.result.thought_us[Seat::new(0)] = 0;
            }),
            ("an answer that is late", |record| {
                let late = record.header.limits.per_move;
                *last_answer(record).0 += late;
                record.result.thought_us[Seat::new(0)] += late.as_micros() as u64;
                record.result.thought_us[Seat::new(1)] += late.as_micros() as u64;
            }),
            ("an excuse of ages", |record| {
                *last_answer(record).1 = Duration::from_micros(u64::MAX);
            }),
            ("a foul after ages", |record| {
                record.events.push(Event::Fouled {
                    seat: Seat::new(0),
                    foul: referee_core::Foul::Flooded {
                        detail: String::new(),
                    },
                    thought: Duration::from_micros(u64::MAX / 2),
                });
                record.result.thought_us[Seat::new(0)] += u64::MAX / 2;
            }),
            ("a place that there is not", |record| {
                outcome(record).places[Seat::new(0)] = 200;
            }),
            ("more answers than there are questions", |record| {
                let answers = record.events.clone().into_iter();
                let answers = answers.filter(|event| matches!(event, Event::Answered { .. }));
                let answers: Vec<Event> = answers.cycle().take(2000).collect();
                let mut thought = PerSeat::new(record.header.players.seats(), |_| 0);
                record.events.extend(answers);
                for event in &record.events {
                    if let Event::Answered {
                        seat,
                        number: 1..,
                        thought: took,
                        ..
                    } = event
                    {
                        thought[*seat] += took.as_micros() as u64;
                    }
                }
                record.result.thought_us = thought;
            }),
        ];
        for game in ["connect_four", "othello", "mahjong", "big_two"] {
            let (dispatcher, lease) = leased(game).await;
            let key = lease.games[0].key;
            let record = played(&lease);
            let examine = |record: &Record, replays| {
                let packed = pack::pack(&record.to_json_lines());
                dispatcher.examine(key, &packed, replays)
            };
            examine(&record, true).unwrap().unwrap();
            examine(&record, false).unwrap().unwrap();
            for (what, forge) in FORGERIES {
                let mut forged = record.clone();
                forge(&mut forged);
                let fault = examine(&forged, false).expect_err(what);
                assert_eq!(fault, FaultKind::ImpossibleResult, "{game}: {what}");
            }
        }
    }
}
