//! The engine's types as the events that programs read ([`arena_events`]). Nothing else
//! turns one into the other.

use std::time::Duration;

use arena_events::{
    Event,
    figures::{BotFigures, EndingCounts, FiguresEvent, TimeFigures},
    game::{
        BotAwayEvent, BotBackEvent, BotSetAsideEvent, FoulEvent, FoulEvidence, FoulName, GameEvent,
        GameFoul, GameKey, GameStartedEvent, MoveEvent, SetAsideCause,
    },
    run::{EloModel, RunBot, RunLimits, RunSeatings, RunShape, RunSprt},
    schedule::{MatchPlayer, ScheduleMatch, ScheduleRound},
    standings::{
        AcceptedHypothesis, BrokenTie, Estimated, MissingEstimate, PairComparison, PairRow,
        PairTest, RankedBot, RunWarning, ScheduleRemark, StandingsEvent, StandingsRow,
        TieBreakName,
    },
    tournament::TournamentState as StateName,
};
use arena_ladder::{
    Entrant, MatchId, Schedule, ScheduleShape, Seatings, Sprt,
    elo::{Estimate, NoEstimate},
    schedule::{Decider, Participant, Ranked, Remark, SetAside, SetAsideReason, TieBreak},
    sprt::{Decision, Model},
    standings::{EntrantRow, Meeting},
};
use arena_store::{GameEnding, NewEntrant, Tournament, TournamentState, Wish, counted_scores};
use referee::Live;
use referee_core::{Foul, FoulKind, Limits, Record, SeatFoul};
use referee_games::game_name;
use referee_worker::{Buckets, Summary, lease::LiveUpdate};

use crate::{AwayBot, EndedGame, FoulNotice, Snapshot, TestProgress, Warning, snapshot::by_seat};

/// Microseconds; as many as fit where there are more.
#[must_use]
pub fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A game of a tournament, or of a match without a name.
#[must_use]
pub fn game_key(game: &EndedGame, tournament: Option<&str>) -> GameKey {
    GameKey {
        tournament: tournament.map(str::to_owned),
        match_number: game.row.matchup.0,
        group: game.row.group,
        seating: game.row.seating,
        game_id: game.game_id.clone(),
    }
}

/// A game that has ended.
#[must_use]
pub fn game(game: &EndedGame, tournament: Option<&str>) -> Event {
    let row = &game.row;
    let played = !row.places.is_empty();
    let seats = row.order.iter().enumerate();
    let fillers = seats.filter(|(_, place)| row.lineup[**place].is_none());
    Event::Game(GameEvent {
        key: game_key(game, tournament),
        players: game.players.clone(),
        fillers: fillers.map(|(seat, _)| seat as u8).collect(),
        places: played.then(|| row.places.clone()),
        scores: row.counted_scores().map(<[i32]>::to_vec),
        reason: row.reason.clone(),
        fouls: row.fouls.iter().map(seat_foul).collect(),
        plies: row.plies.into(),
        thought_us: row.thought_us.clone(),
        play_hash: row.play_hash.clone(),
        record: record(game),
    })
}

/// A game that belongs to no run, as its record says.
#[must_use]
pub fn game_of_record(record: &Record) -> Event {
    let summary = Summary::of(record, record.play_hash());
    let scores = counted_scores(&summary.scores, &summary.fouls).map(<[i32]>::to_vec);
    Event::Game(GameEvent {
        key: GameKey {
            tournament: None,
            match_number: 0,
            group: 0,
            seating: 0,
            game_id: record.header.game_id.clone(),
        },
        players: record.header.players.as_slice().to_vec(),
        fillers: Vec::new(),
        places: (!summary.places.is_empty()).then_some(summary.places),
        scores,
        reason: summary.reason,
        fouls: summary.fouls.iter().map(seat_foul).collect(),
        plies: summary.plies.into(),
        thought_us: summary.thought_us,
        play_hash: summary.play_hash,
        record: None,
    })
}

fn seat_foul(foul: &SeatFoul) -> GameFoul {
    GameFoul {
        seat: foul.seat.index() as u8,
        foul: evidence(&foul.foul),
    }
}

/// The first foul of a bot.
#[must_use]
pub fn first_foul(notice: &FoulNotice<'_>, tournament: Option<&str>) -> Event {
    Event::Foul(FoulEvent {
        key: game_key(notice.game, tournament),
        bot: notice.bot.to_owned(),
        seat: notice.foul.seat.index() as u8,
        foul: evidence(&notice.foul.foul),
        record: record(notice.game),
    })
}

/// A bot at whose address nothing answers.
#[must_use]
pub fn away(bot: &str, away: &AwayBot) -> Event {
    Event::BotAway(BotAwayEvent {
        bot: bot.to_owned(),
        detail: away.why.clone(),
        left_us: us(away.left),
    })
}

/// A bot that has come back after so long.
#[must_use]
pub fn back(bot: &str, after: Duration) -> Event {
    Event::BotBack(BotBackEvent {
        bot: bot.to_owned(),
        away_us: us(after),
    })
}

/// A bot that takes no further part.
#[must_use]
pub fn set_aside(bot: &str, set_aside: &SetAside) -> BotSetAsideEvent {
    BotSetAsideEvent {
        bot: bot.to_owned(),
        reason: match set_aside.why {
            SetAsideReason::NoStart { deals } => SetAsideCause::NotStarted { deals },
            SetAsideReason::Failed { deals } => SetAsideCause::Failed { deals },
        },
        annulled: set_aside.annulled,
    }
}

/// Something that everybody may know of a running game.
#[must_use]
pub fn live(matchup: MatchId, update: &LiveUpdate, tournament: Option<&str>) -> Event {
    match &update.live {
        Live::Started => Event::GameStarted(GameStartedEvent {
            key: GameKey {
                tournament: tournament.map(str::to_owned),
                match_number: matchup.0,
                group: update.key.group,
                seating: update.key.seating,
                game_id: update.game_id.clone(),
            },
            players: update.players.clone(),
        }),
        Live::Played {
            seat,
            number,
            notation,
            thought,
        } => Event::Move(MoveEvent {
            game_id: update.game_id.clone(),
            seat: seat.index() as u8,
            number: (*number).into(),
            notation: notation.clone(),
            thought_us: us(*thought),
        }),
    }
}

/// The kind of a foul, with its evidence.
#[must_use]
pub fn evidence(foul: &Foul) -> FoulEvidence {
    match foul.clone() {
        Foul::Unreachable { detail } => FoulEvidence::Unreachable { detail },
        Foul::NoStart { detail } => FoulEvidence::NoStart { detail },
        Foul::Unsupported { detail } => FoulEvidence::Unsupported { detail },
        Foul::Crashed { detail } => FoulEvidence::Crashed { detail },
        Foul::HungUp => FoulEvidence::HungUp,
        Foul::Resigned => FoulEvidence::Resigned,
        Foul::ErrorStatus { code, message } => FoulEvidence::ErrorStatus {
            code,
            detail: message,
        },
        Foul::Malformed { detail } => FoulEvidence::Malformed { detail },
        Foul::WrongNumber { expected, got } => FoulEvidence::WrongNumber { expected, got },
        Foul::Unsolicited { bytes } => FoulEvidence::Unsolicited {
            answer_bytes: bytes as u64,
        },
        Foul::Oversized { limit } => FoulEvidence::Oversized {
            limit_bytes: limit as u64,
        },
        Foul::Flooded { detail } => FoulEvidence::Flooded { detail },
        Foul::Interfered { detail } => FoulEvidence::Interfered { detail },
        Foul::MemoryExceeded { peak, limit } => FoulEvidence::MemoryExceeded {
            peak_bytes: peak,
            limit_bytes: limit,
        },
        Foul::Illegal { reason } => FoulEvidence::Illegal { detail: reason },
        Foul::Late { limit } => FoulEvidence::Late {
            limit_us: us(limit),
        },
    }
}

/// The name of a kind of foul.
#[must_use]
pub const fn foul_name(kind: FoulKind) -> FoulName {
    match kind {
        FoulKind::Unreachable => FoulName::Unreachable,
        FoulKind::NoStart => FoulName::NoStart,
        FoulKind::Unsupported => FoulName::Unsupported,
        FoulKind::Crashed => FoulName::Crashed,
        FoulKind::HungUp => FoulName::HungUp,
        FoulKind::Resigned => FoulName::Resigned,
        FoulKind::ErrorStatus => FoulName::ErrorStatus,
        FoulKind::Malformed => FoulName::Malformed,
        FoulKind::WrongNumber => FoulName::WrongNumber,
        FoulKind::Unsolicited => FoulName::Unsolicited,
        FoulKind::Oversized => FoulName::Oversized,
        FoulKind::Flooded => FoulName::Flooded,
        FoulKind::Interfered => FoulName::Interfered,
        FoulKind::MemoryExceeded => FoulName::MemoryExceeded,
        FoulKind::Illegal => FoulName::Illegal,
        FoulKind::Late => FoulName::Late,
    }
}

/// The limits of each bot.
#[must_use]
pub fn limits(limits: &Limits, memory_mib: Option<u64>) -> RunLimits {
    RunLimits {
        start_us: us(limits.start),
        move_us: us(limits.per_move),
        budget_us: limits.budget.map(us),
        answer_bytes: limits.answer_bytes as u64,
        memory_bytes: memory_mib.map(|mib| mib * 1024 * 1024),
    }
}

/// The shape of a schedule.
#[must_use]
pub fn shape(shape: &ScheduleShape) -> RunShape {
    match *shape {
        ScheduleShape::RoundRobin {} => RunShape::RoundRobin,
        ScheduleShape::Gauntlet { challengers } => RunShape::Gauntlet { challengers },
        ScheduleShape::Swiss { rounds } => RunShape::Swiss { rounds },
        ScheduleShape::SingleElimination { third_place } => {
            RunShape::SingleElimination { third_place }
        }
        ScheduleShape::DoubleElimination {} => RunShape::DoubleElimination,
        ScheduleShape::Ladder { rounds } => RunShape::Ladder { rounds },
        ScheduleShape::Listed { .. } => RunShape::Listed,
    }
}

/// From which seatings a deal is played. One of its own for each game counts as the
/// rotations of the bots.
#[must_use]
pub const fn seatings(seatings: Seatings) -> RunSeatings {
    match seatings {
        Seatings::All => RunSeatings::All,
        _ => RunSeatings::Rotations,
    }
}

/// A test of two.
#[must_use]
pub const fn sprt(sprt: &Sprt) -> RunSprt {
    RunSprt {
        elo0: sprt.elo0,
        elo1: sprt.elo1,
        alpha: sprt.alpha,
        beta: sprt.beta,
        model: match sprt.model {
            Model::Normalized => EloModel::Normalized,
            Model::Logistic => EloModel::Logistic,
        },
    }
}

/// A bot of a stored tournament.
#[must_use]
pub fn entrant(entrant: &NewEntrant) -> RunBot {
    RunBot {
        name: entrant.name.clone(),
        version: Some(entrant.version.clone()),
        spec: entrant.spec.clone(),
        owner: entrant.owner.clone(),
    }
}

/// The state of a stored tournament; `is_claimed` says whether an arena plays it now, `wish` what a
/// person has asked of the arena that plays all.
#[must_use]
pub const fn state(state: TournamentState, is_claimed: bool, wish: Option<Wish>) -> StateName {
    match state {
        TournamentState::Created | TournamentState::Running | TournamentState::Stopped
            if !is_claimed && matches!(wish, Some(Wish::Play)) =>
        {
            StateName::Queued
        }
        TournamentState::Created | TournamentState::Running | TournamentState::Stopped
            if !is_claimed && matches!(wish, Some(Wish::Pause)) =>
        {
            StateName::Paused
        }
        TournamentState::Created => StateName::Created,
        TournamentState::Running if is_claimed => StateName::Running,
        TournamentState::Running => StateName::Interrupted,
        TournamentState::Stopped => StateName::Stopped,
        TournamentState::Over => StateName::Over,
        TournamentState::Cancelled => StateName::Cancelled,
    }
}

/// The rounds of a schedule.
#[must_use]
pub fn rounds(schedule: &dyn Schedule, names: &[String]) -> Vec<ScheduleRound> {
    let player = |player: Participant| match player {
        Participant::Entrant(who) => MatchPlayer::Bot {
            name: names[who.index()].clone(),
        },
        Participant::Filler => MatchPlayer::Filler,
        Participant::Bye => MatchPlayer::Bye,
        Participant::Pending(from) => MatchPlayer::Pending { from },
    };
    let rounds = schedule.rounds().into_iter();
    rounds
        .map(|round| ScheduleRound {
            name: round.name,
            matches: round
                .matches
                .into_iter()
                .map(|one| ScheduleMatch {
                    number: one.id.0,
                    players: one.players.into_iter().map(player).collect(),
                    groups: one.groups,
                    max_groups: one.most,
                    points: one.points.iter().map(|half| half.points()).collect(),
                    over: one.over,
                })
                .collect(),
        })
        .collect()
}

/// Times in four figures.
#[must_use]
pub fn times(buckets: &Buckets) -> TimeFigures {
    TimeFigures {
        count: buckets.count(),
        median_us: buckets.quantile(0.5),
        p99_us: buckets.quantile(0.99),
        max_us: buckets.max(),
    }
}

/// A run that is stored, as its standings need it.
pub struct StoredRun<'a> {
    /// The tournament.
    pub tournament: &'a Tournament,
    /// True if an arena plays it now.
    pub is_claimed: bool,
}

impl Snapshot {
    /// The standings of a stored tournament, or of a match that has just been played by
    /// these bots.
    #[must_use]
    pub fn standings_event(&self, stored: Option<&StoredRun<'_>>, bots: Vec<RunBot>) -> Event {
        let tournament = stored.map(|stored| stored.tournament);
        let over = tournament.is_none_or(|one| one.state.is_final());
        let names = &self.names;
        let remarks = self.schedule.iter().flat_map(|schedule| schedule.remarks());
        let aside = self.set_aside.iter();
        Event::Standings(StandingsEvent {
            tournament: tournament.map(|one| one.name.clone()),
            game: game_name(self.kind.info().name),
            state: stored.map(|stored| {
                state(
                    stored.tournament.state,
                    stored.is_claimed,
                    stored.tournament.wish,
                )
            }),
            seats: self.kind.info().seats,
            root_commitment: tournament.map(|one| one.commitment.clone()),
            root: tournament
                .and_then(|one| one.root.as_ref())
                .filter(|_| over)
                .map(referee_core::Root::reveal),
            reproduction: tournament.map(|one| one.reproduction),
            bots,
            counts: self.count,
            rows: self
                .standings
                .rows
                .iter()
                .map(|row| self.row(row))
                .collect(),
            pairs: (self.standings.pairs.iter().zip(&self.tests))
                .map(|(pair, test)| self.pair(pair, *test))
                .collect(),
            ranking: self
                .ranking
                .as_ref()
                .map(|ranking| ranking.iter().map(|ranked| self.ranked(ranked)).collect()),
            set_aside: aside
                .map(|one| set_aside(self.name(one.entrant), one))
                .collect(),
            remarks: remarks.map(|remark| self.remark(&remark)).collect(),
            warnings: self.warning_events(),
            rounds: self
                .schedule
                .as_deref()
                .filter(|_| tournament.is_some())
                .map(|schedule| rounds(schedule, names)),
        })
    }

    /// The event with the figures that were counted beside the results.
    #[must_use]
    pub fn figures_event(&self, tournament: Option<&str>) -> Event {
        let figures = &self.figures;
        let seats = usize::from(self.standings.seats);
        let mut endings = EndingCounts::default();
        for (ending, games) in &figures.ended {
            match ending {
                GameEnding::Rules => endings.rules += games,
                GameEnding::Draw => endings.draws += games,
                GameEnding::Foul(kind) => {
                    *endings.fouls.entry(foul_name(*kind)).or_insert(0) += games;
                }
            }
        }
        let bots = self.names.iter().zip(&figures.bots);
        Event::Figures(FiguresEvent {
            tournament: tournament.map(str::to_owned),
            bots: bots
                .map(|(name, bot)| BotFigures {
                    bot: name.clone(),
                    thinking: times(&bot.thinking),
                    fouls: (bot.fouls.iter())
                        .map(|(kind, count)| (foul_name(*kind), *count))
                        .collect(),
                    excused_answers: bot.excused,
                    games_by_seat: by_seat(&bot.seats, seats),
                })
                .collect(),
            endings,
            points_by_seat: by_seat(&figures.seats, seats)
                .into_iter()
                .map(|half| half as f64 / 2.0)
                .collect(),
            queue_wait: times(&figures.queue),
            store_commit: times(&figures.commit),
            referee_delay: times(&figures.late),
        })
    }

    fn row(&self, row: &EntrantRow) -> StandingsRow {
        StandingsRow {
            rank: row.rank,
            bot: self.name(row.entrant).to_owned(),
            games: row.games,
            groups: row.groups,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            points: row.points.points(),
            score: row.score,
            places: row.places.clone(),
            mean_place: row.mean_place,
            elo: match row.rating {
                Some(rating) => estimated(Ok(rating)),
                None if row.games == 0 => missing(MissingEstimate::NotPlayed),
                None => missing(MissingEstimate::NotConnected),
            },
            margin: row.margin.map(|margin| estimated(Ok(margin))),
            purse: self.purses.get(&row.entrant).copied(),
        }
    }

    fn pair(&self, pair: &Meeting, test: Option<TestProgress>) -> PairRow {
        PairRow {
            first: self.name(pair.first).to_owned(),
            second: self.name(pair.second).to_owned(),
            groups: pair.groups,
            wins: pair.wins,
            draws: pair.draws,
            losses: pair.losses,
            comparison: pair.comparison.map(|comparison| PairComparison {
                score: comparison.score,
                elo: estimated(comparison.elo),
                nelo: estimated(comparison.nelo),
                los: comparison.los.ok(),
                draw_ratio: comparison.draw_ratio,
                group_counts: pair.counts.clone().unwrap_or_default(),
            }),
            test: test.map(|test| PairTest {
                llr: test.llr,
                lower: test.bounds.0,
                upper: test.bounds.1,
                decision: test.decision.map(|decision| match decision {
                    Decision::AcceptH0 => AcceptedHypothesis::H0,
                    Decision::AcceptH1 => AcceptedHypothesis::H1,
                }),
            }),
        }
    }

    fn ranked(&self, ranked: &Ranked) -> RankedBot {
        RankedBot {
            rank: ranked.place,
            bot: self.name(ranked.entrant).to_owned(),
            points: ranked.points,
            ties: ranked
                .ties
                .iter()
                .map(|(by, value)| BrokenTie {
                    by: match by {
                        TieBreak::Buchholz => TieBreakName::Buchholz,
                        TieBreak::SonnebornBerger => TieBreakName::SonnebornBerger,
                        TieBreak::GamePoints => TieBreakName::GamePoints,
                        TieBreak::OpponentsMeanPoints => TieBreakName::OpponentsMeanPoints,
                    },
                    value: *value,
                })
                .collect(),
        }
    }

    fn remark(&self, remark: &Remark) -> ScheduleRemark {
        let name = |who: Entrant| self.name(who).to_owned();
        match remark {
            Remark::Rematch { round, players } => ScheduleRemark::Rematch {
                round: round.clone(),
                first: name(players[0]),
                second: name(players[1]),
            },
            Remark::SecondBye { round, entrant } => ScheduleRemark::SecondBye {
                round: round.clone(),
                bot: name(*entrant),
            },
            Remark::Tie {
                round,
                ahead,
                behind,
                decided_by,
            } => ScheduleRemark::BrokenTie {
                round: round.clone(),
                ahead: name(*ahead),
                behind: name(*behind),
                by_margin: *decided_by == Decider::Margins,
            },
        }
    }

    fn warning_events(&self) -> Vec<RunWarning> {
        let mut events = Vec::new();
        for warning in &self.warnings {
            match warning {
                Warning::Fouls {
                    count,
                    games,
                    first,
                } => events.push(RunWarning::Fouls {
                    bot: self.name(first.entrant).to_owned(),
                    fouls: *count,
                    games: *games,
                    group: first.group,
                    seating: first.seating,
                    first: evidence(&first.foul),
                }),
                Warning::RepeatedGames { games, distinct } => {
                    events.push(RunWarning::RepeatedGames {
                        games: *games,
                        distinct: *distinct,
                    });
                }
                Warning::RefereeDelay { excused } => {
                    events.extend(
                        excused
                            .iter()
                            .map(|(bot, answers)| RunWarning::RefereeLate {
                                bot: self.name(*bot).to_owned(),
                                excused_answers: *answers,
                            }),
                    );
                }
                Warning::UnequalSeats { bots } => {
                    events.extend(bots.iter().map(|(bot, games)| RunWarning::UnequalSeats {
                        bot: self.name(*bot).to_owned(),
                        games_by_seat: games.clone(),
                    }));
                }
            }
        }
        let (deals, games) = self.half_played;
        if deals > 0 {
            events.push(RunWarning::HalfPlayed { deals, games });
        }
        if self.schedule.is_none() {
            events.push(RunWarning::ScheduleUnknown);
        }
        events
    }
}

/// A figure and its error, or what is missing.
#[must_use]
pub fn estimated(estimate: Result<Estimate, NoEstimate>) -> Estimated {
    match estimate {
        Err(why) => missing(reason(why)),
        Ok(Estimate { value, error }) => Estimated {
            value: Some(value),
            error: error.ok(),
            missing: error.err().map(reason),
        },
    }
}

const fn missing(why: MissingEstimate) -> Estimated {
    Estimated {
        value: None,
        error: None,
        missing: Some(why),
    }
}

/// Reason why there is no figure, or no error bar.
#[must_use]
pub const fn reason(why: NoEstimate) -> MissingEstimate {
    match why {
        NoEstimate::TooFewGroups { has, needs } => MissingEstimate::TooFewGroups { has, needs },
        NoEstimate::NoVariance => MissingEstimate::NoVariance,
        NoEstimate::EveryGameWon => MissingEstimate::EveryGameWon,
        NoEstimate::EveryGameLost => MissingEstimate::EveryGameLost,
        NoEstimate::Unbounded => MissingEstimate::Unbounded,
        NoEstimate::NotComparable => MissingEstimate::NotConnected,
    }
}

fn record(game: &EndedGame) -> Option<String> {
    let record = game.record.as_ref()?;
    Some(record.display().to_string())
}
