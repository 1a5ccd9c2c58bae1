//! Proves a tournament from its records and its root: that its deals are those
//! of the root that was committed to, that its schedule asked for exactly these
//! games, that every record plays again, and that what the store counts is what
//! the records say.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use arena_events::tournament::{FaultKind, TournamentFault};
use arena_ladder::{Entrant, Group, GroupScore, Lineup};
use arena_store::{GameFilter, GameRow, ScoredGroup, Store, Tournament, TournamentState};
use referee_core::{Record, Root, printable};
use referee_worker::Summary;

use crate::{
    Definition, Results as _, Setups, StoredResults, TournamentError, chance,
    dispatch::game_counters,
    error::invalid,
    expected::ExpectedHeader,
    filler_name, game_id,
    results::{GroupOutcome, add_to, places_by_lineup},
    totals::{LookAhead, Totals},
};

/// So many games are read with one question to the store.
const PAGE: u32 = 1000;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Number of games.
    pub games: u32,
    /// The faults, in order of the groups; none where all of it is proved.
    pub faults: Vec<TournamentFault>,
}

/// Proves a stored tournament.
///
/// # Errors
///
/// Its root is not known here; the store fails.
pub async fn verify(
    store: &Store,
    tournament: &Tournament,
) -> Result<Verification, TournamentError> {
    let Some(root) = tournament.root.clone() else {
        return invalid(format!(
            "{}: it is not over, and its root not known here; it can be proved when it is over",
            tournament.name
        ));
    };
    let definition = Definition::of(tournament)?;
    let mut verifier = Verifier {
        tournament,
        setups: Setups::new(definition.kind()?, definition.setups.clone())?,
        definition,
        root,
        found: Verification {
            games: 0,
            faults: Vec::new(),
        },
    };
    if verifier.root.commitment() != tournament.commitment {
        verifier.fault(None, None, FaultKind::WrongRoot);
    }
    let asked = verifier.schedule(store).await?;
    verifier.games(store, asked).await?;
    Ok(verifier.found)
}

struct Verifier<'a> {
    tournament: &'a Tournament,
    definition: Definition,
    setups: Setups,
    root: Root,
    found: Verification,
}

/// The groups that the schedule asked for.
struct ScheduledGroups {
    /// Each group, with the score that the store has of it.
    groups: BTreeMap<u64, (Group, Option<GroupScore>)>,
    /// Groups that count for nobody, whether they were asked for or not.
    uncounted: Vec<Range<u64>>,
    /// Entrants that take no further part.
    out: Vec<Entrant>,
    /// Groups that the store has and that nobody asked for.
    strange: BTreeSet<u64>,
}

impl ScheduledGroups {
    /// True if a group need not be there, and may be: it was begun before its match was decided or
    /// a player of it set aside.
    fn in_vain(&self, group: u64, lineup: &Lineup) -> bool {
        let is_out = |who: &Entrant| self.out.contains(who);
        self.uncounted.iter().any(|range| range.contains(&group))
            || lineup.iter().flatten().any(is_out)
    }
}

impl Verifier<'_> {
    fn fault(&mut self, group: Option<u64>, seating: Option<u32>, fault: FaultKind) {
        self.found.faults.push(TournamentFault {
            group,
            seating,
            fault,
        });
    }

    /// Folds the schedule again, and gives what it asked for.
    async fn schedule(&mut self, store: &Store) -> Result<ScheduledGroups, TournamentError> {
        let entrants = self.tournament.entrants.len();
        let mut schedule = self.definition.schedule(entrants, chance(&self.root))?;
        let results = StoredResults::of(store, self.tournament.id);
        let mut scores = results.scores().await?;
        let mut groups = BTreeMap::new();
        let mut ahead = LookAhead::default();
        if let Some((last, _)) = scores.last_key_value() {
            ahead.see(*last);
        }
        while let Some(group) = schedule.next()
            && ahead.is_near(group.number)
        {
            let scored = scores.remove(&group.number);
            if let Some(scored) = &scored
                && (scored.lineup != group.lineup
                    || scored.matchup != group.matchup
                    || schedule.record(&scored.score).is_err())
            {
                self.fault(Some(group.number), None, FaultKind::OutOfSchedule);
            }
            groups.insert(group.number, (group, scored.map(|scored| scored.score)));
        }
        let out = schedule.set_aside();
        let mut asked = ScheduledGroups {
            groups,
            uncounted: schedule.uncounted(),
            out: out.into_iter().map(|aside| aside.entrant).collect(),
            strange: BTreeSet::new(),
        };
        for (number, scored) in scores {
            if !asked.in_vain(number, &scored.lineup) {
                asked.strange.insert(number);
            }
        }
        Ok(asked)
    }

    /// Every game: its record, and what the store counts of it.
    async fn games(
        &mut self,
        store: &Store,
        mut asked: ScheduledGroups,
    ) -> Result<(), TournamentError> {
        let id = self.tournament.id;
        let mut filter = GameFilter::default();
        let mut sums: Option<GroupScore> = None;
        let mut places: Vec<Vec<u8>> = Vec::new();
        let mut lineup = Lineup::new();
        let mut tallies: BTreeMap<GroupOutcome, u64> = BTreeMap::new();
        let mut there: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        loop {
            let page = store.games(id, &filter, PAGE).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some((last.group, last.seating));
            for game in page {
                self.found.games += 1;
                there.entry(game.group).or_default().insert(game.seating);
                let group = asked.groups.get(&game.group).map(|(group, _)| group);
                let proved = match store.record(id, game.group, game.seating).await {
                    Ok(Some(record)) => self.game(&game, &record, group),
                    Ok(None) => Err(FaultKind::NoRecord),
                    Err(error) => Err(FaultKind::UnreadableRecord {
                        error: error.to_string(),
                    }),
                };
                if let Err(why) = proved {
                    self.fault(Some(game.group), Some(game.seating), why);
                }
                if group.is_none() && !asked.in_vain(game.group, &game.lineup) {
                    asked.strange.insert(game.group);
                }
                if sums.as_ref().is_some_and(|sums| sums.number != game.group) {
                    self.count(&mut tallies, &sums, &lineup, std::mem::take(&mut places));
                    self.group(sums.take(), &asked);
                }
                let sum =
                    sums.get_or_insert_with(|| GroupScore::new(game.group, game.lineup.len()));
                add_to(sum, &game);
                places.push(places_by_lineup(&game));
                lineup.clone_from(&game.lineup);
            }
        }
        self.count(&mut tallies, &sums, &lineup, places);
        self.group(sums, &asked);
        let mut stored: BTreeMap<GroupOutcome, u64> = BTreeMap::new();
        let mut after = None;
        loop {
            let page = store.complete_groups(id, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.mark);
            for group in page {
                let ScoredGroup { lineup, score, .. } = group.scored;
                *stored
                    .entry((lineup, group.places, score.margins))
                    .or_default() += 1;
            }
        }
        let results = StoredResults::of(store, id);
        let (entrants, root) = (self.tournament.entrants.len(), Some(&self.root));
        let are_right = Totals::are_right(&results, &self.definition, entrants, root).await?;
        if stored != tallies || !are_right {
            self.fault(None, None, FaultKind::WrongCounts);
        }
        self.missing(&asked, &there);
        for group in asked.strange {
            self.fault(Some(group), None, FaultKind::NotScheduled);
        }
        Ok(())
    }

    /// Finds games that are missing: a tournament that is over has all its games, and so has a
    /// group with a score.
    fn missing(&mut self, asked: &ScheduledGroups, there: &BTreeMap<u64, BTreeSet<u32>>) {
        let over = self.tournament.state == TournamentState::Over;
        for (number, (group, score)) in &asked.groups {
            let wanted = over && !asked.in_vain(*number, &group.lineup);
            match there.get(number) {
                _ if !wanted && score.is_none() => {}
                None => self.fault(Some(*number), None, FaultKind::NotPlayed),
                Some(there) => {
                    let all = self.definition.seatings.games(group.lineup.len()) as u32;
                    for seating in (0..all).filter(|seating| !there.contains(seating)) {
                        self.fault(Some(*number), Some(seating), FaultKind::MissingGame);
                    }
                }
            }
        }
    }

    /// One game: its record is whole, plays again, is the one that the schedule
    /// asked for, and says what the store counts.
    fn game(&self, row: &GameRow, record: &str, asked: Option<&Group>) -> Result<(), FaultKind> {
        let parsed = Record::parse_sealed(record);
        let (record, play_hash) = parsed.map_err(|error| FaultKind::UnreadableRecord {
            error: error.to_string(),
        })?;
        // As the store has its texts.
        let record = record.printable();
        referee_games::verify(&record).map_err(|error| FaultKind::DoesNotReplay {
            error: printable(&error.to_string()),
        })?;
        if let Some(group) = asked {
            let orders = self.definition.seatings.of(group.lineup.len(), group.turn);
            if orders.get(row.seating as usize) != Some(&row.order) || row.lineup != group.lineup {
                return Err(FaultKind::WrongSeating);
            }
        }
        let entrants = &self.tournament.entrants;
        let seats = || row.order.iter().map(|&place| (row.lineup[place], place));
        let player = |(who, place): (Option<Entrant>, usize)| match who {
            Some(who) => entrants[who.index()].name.clone(),
            None => filler_name(place),
        };
        let identity = |(who, _): (Option<Entrant>, usize)| entrants[who?.index()].identity.clone();
        let expected = ExpectedHeader {
            game: &self.definition.game,
            limits: &self.definition.limits,
            seed: self.root.seed(&self.definition.game, row.group),
            scheduled: asked.map(|group| {
                let game_id = game_id(group.matchup.0, group.at, row.seating);
                (game_id, self.setups.of(group.at))
            }),
            players: seats().map(player).collect(),
            identities: seats().map(identity).collect(),
        };
        expected.check(&record.header)?;
        if record.result.verdict.outcome().is_none() {
            return Err(FaultKind::VoidGame);
        }
        let summary = Summary::of(&record, play_hash);
        let same = summary.places == row.places
            && summary.scores == row.scores
            && summary.reason == row.reason
            && summary.fouls == row.fouls
            && summary.play_hash == row.play_hash
            && summary.course == row.course
            && summary.thought_us == row.thought_us
            && summary.plies == row.plies;
        if !same {
            return Err(FaultKind::WrongResult);
        }
        let mut counters = BTreeMap::new();
        for (who, counter, count) in &row.counters {
            if !counter.is_of_the_run() {
                *counters.entry((*who, counter.clone())).or_default() += count;
            }
        }
        if counters
            != game_counters(&summary, row.worker.as_deref(), |seat| {
                row.lineup[row.order[seat]]
            })
        {
            return Err(FaultKind::WrongCounters);
        }
        Ok(())
    }

    /// Counts a group that is whole with those that came out the same.
    fn count(
        &self,
        tallies: &mut BTreeMap<GroupOutcome, u64>,
        sums: &Option<GroupScore>,
        lineup: &Lineup,
        places: Vec<Vec<u8>>,
    ) {
        let all = self.definition.seatings.games(lineup.len()) as u32;
        if let Some(sums) = sums
            && sums.games == all
        {
            let came = (lineup.clone(), places, sums.margins.clone());
            *tallies.entry(came).or_default() += 1;
        }
    }

    /// One group: its score is what its games add up to.
    fn group(&mut self, sums: Option<GroupScore>, asked: &ScheduledGroups) {
        if let Some(sums) = sums
            && let Some((_, Some(score))) = asked.groups.get(&sums.number)
            && *score != sums
        {
            self.fault(Some(sums.number), None, FaultKind::WrongScore);
        }
    }
}
