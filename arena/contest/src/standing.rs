//! A contest with all that belongs to it, read at once, and what is done to it by people.

use std::{collections::BTreeMap, sync::OnceLock};

use arena_store::{
    By, Challenge, Contest, ContestRun, ContestRunKind, Contestant, DetailsOf, Entry, NewContest,
    NewEntry, Person, PersonNumber, Role, Store,
};
use arena_tournament::secret_root;
use referee_core::{is_printable, printable};
use sha2::{Digest as _, Sha256};

use crate::{
    Board, ChallengeRefusal, ContestError, ContestRules, EntryDetails, EntryOutcome, LadderRules,
    Phase, Refusal, Viewer,
    board::name,
    error::invalid,
    judge::{ahead, in_meeting},
};

/// The most bytes in the name of a file that is handed in.
const LONGEST_FILE: usize = 200;

/// A contest as it is stored now.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The contest.
    pub contest: Contest,
    /// Its rules.
    pub rules: ContestRules,
    /// Its people, by number.
    pub people: Vec<Person>,
    /// Those who are ranked, by number.
    pub contestants: Vec<Contestant>,
    /// What was handed in, by number.
    pub entries: Vec<Entry>,
    /// Entries that are judged anew, by number: copies, whose `trial_of` says of which.
    pub trials: Vec<Entry>,
    /// The last rounds of the league and the final, in the order in which they began.
    pub meetings: Vec<ContestRun>,
    /// Who is to meet whom in the next round of its ladder.
    pub challenges: Vec<Challenge>,
    /// Its phase.
    pub phase: Phase,
    /// How many entries are before each that is not judged, by its number; known when somebody asks.
    ahead: OnceLock<BTreeMap<u64, usize>>,
}

impl Standing {
    /// Creates a contest with secret roots.
    ///
    /// # Errors
    ///
    /// There is one of this name; the store fails.
    pub async fn create(
        store: &Store,
        name: &str,
        rules: &ContestRules,
        by: By<'_>,
    ) -> Result<Contest, ContestError> {
        let new = NewContest {
            name: name.to_owned(),
            definition: serde_json::to_value(rules).expect("rules are JSON"),
            root: secret_root()?,
            final_root: secret_root()?,
            created_unix_ms: by.at_unix_ms,
        };
        Ok(store.create_contest(&new, by.who).await?)
    }

    /// The contest with this name.
    ///
    /// # Errors
    ///
    /// There is none; the store fails.
    pub async fn read(store: &Store, name: &str, now_unix_ms: i64) -> Result<Self, ContestError> {
        match store.contest(name).await? {
            Some(contest) => Self::of(store, contest, now_unix_ms).await,
            None => invalid(format!(
                "there is no contest \"{name}\"; `arena contest list` shows those that there are"
            )),
        }
    }

    /// A contest that was just read, with all that belongs to it.
    ///
    /// # Errors
    ///
    /// Its rules can't be read; the store fails.
    pub async fn of(
        store: &Store,
        contest: Contest,
        now_unix_ms: i64,
    ) -> Result<Self, ContestError> {
        let rules = ContestRules::of(&contest)?;
        Ok(Self {
            people: store.people(contest.id).await?,
            contestants: store.contestants(contest.id).await?,
            entries: store.entries(contest.id).await?,
            trials: store.trials(contest.id).await?,
            meetings: store.meetings(contest.id, rules.freezes_unix_ms).await?,
            challenges: match rules.ladder() {
                Some(_) => store.open_challenges(contest.id).await?,
                None => Vec::new(),
            },
            phase: rules.phase(now_unix_ms, contest.published_unix_ms.is_some()),
            rules,
            contest,
            ahead: OnceLock::new(),
        })
    }

    /// Adds an entry that was handed in after it was read, unless it is there.
    pub fn add(&mut self, entry: Entry) {
        let find = self
            .entries
            .binary_search_by_key(&entry.number, |one| one.number);
        if let Err(at) = find {
            self.entries.insert(at, entry);
            self.ahead = OnceLock::new();
        }
    }

    /// The scoreboard for one who looks.
    #[must_use]
    pub fn board(&self, viewer: Viewer) -> Board {
        Board::new(
            &self.rules,
            self.phase,
            &self.contestants,
            &self.people,
            &self.entries,
            &self.meetings,
            viewer,
        )
    }

    /// The contestant with this number or pseudonym.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn contestant_of(&self, text: &str) -> Result<u64, ContestError> {
        let text = text.trim();
        let number = text.parse().ok();
        let by_number = self
            .contestants
            .iter()
            .find(|one| Some(one.number) == number);
        let by_name = || self.contestants.iter().find(|one| one.pseudonym == text);
        match by_number.or_else(by_name) {
            Some(one) => Ok(one.number),
            None => invalid(format!(
                "expected the number or the pseudonym of a contestant, found \"{}\"; the board shows \
                 those that there are",
                printable(text)
            )),
        }
    }

    /// Asks for a match of a contestant against another in the next round of the ladder.
    ///
    /// # Errors
    ///
    /// The store fails. What the rules refuse is the inner error.
    pub async fn challenge(
        &self,
        store: &Store,
        contestant: u64,
        opponent: u64,
        now_unix_ms: i64,
    ) -> Result<Result<Challenge, ChallengeRefusal>, ContestError> {
        let ladder = match self.may_challenge(contestant, opponent) {
            Ok(ladder) => ladder,
            Err(refused) => return Ok(Err(refused)),
        };
        let today = self.rules.day(now_unix_ms);
        let decide = |before: &[Challenge]| {
            let waits = |one: &&Challenge| one.round.is_none() && one.opponent == opponent;
            let of_today = |one: &&Challenge| self.rules.day(one.at_unix_ms) == today;
            let most = ladder.challenges_a_day;
            if before.iter().any(|one| waits(&one)) {
                Err(ChallengeRefusal::Waits(opponent))
            } else if before.iter().filter(of_today).count() >= most as usize {
                Err(ChallengeRefusal::NoneLeft(most))
            } else {
                Ok(())
            }
        };
        let id = self.contest.id;
        let asked = store.challenge(id, contestant, opponent, now_unix_ms, decide);
        Ok(asked.await?)
    }

    /// Reason why one contestant can't ask for a match against another at all.
    fn may_challenge(
        &self,
        contestant: u64,
        opponent: u64,
    ) -> Result<&LadderRules, ChallengeRefusal> {
        let Some(ladder) = self.rules.ladder().filter(|one| one.challenges_a_day > 0) else {
            return Err(ChallengeRefusal::NoLadder);
        };
        if !matches!(self.phase, Phase::Open | Phase::Frozen) {
            return Err(ChallengeRefusal::NotNow(self.phase.word()));
        }
        if contestant == opponent {
            return Err(ChallengeRefusal::Oneself);
        }
        let players = in_meeting(&self.contestants, &self.entries);
        for number in [contestant, opponent] {
            let found = self.contestants.iter().find(|one| one.number == number);
            if found.is_none_or(|one| one.disqualified.is_some()) {
                return Err(ChallengeRefusal::Nobody(number));
            }
            if !players.iter().any(|player| player.contestant == number) {
                return Err(ChallengeRefusal::NoEntry(number));
            }
        }
        Ok(ladder)
    }

    /// Reason why it can't be published yet: entries, the deadline or the final are waited for.
    ///
    /// # Errors
    ///
    /// [`ContestError::Invalid`] says what is waited for.
    pub fn check_over(&self) -> Result<(), ContestError> {
        let rules = &self.rules;
        let open = self.open_count();
        let is_over = |run: &ContestRun| run.kind == ContestRunKind::Final && run.result.is_some();
        let could_meet = in_meeting(&self.contestants, &self.entries).len() > 1;
        if !matches!(self.phase, Phase::Closed | Phase::Published) {
            invalid(format!(
                "it closes {}; `arena contest change` can let it close before",
                rules.shown(rules.closes_unix_ms)
            ))
        } else if open > 0 {
            invalid(format!("{open} entries are not judged yet"))
        } else if rules.r#final.is_some() && could_meet && !self.meetings.iter().any(is_over) {
            invalid("its final is not over; `arena serve --contest` plays it")
        } else {
            Ok(())
        }
    }

    /// The number of entries that are not judged yet.
    #[must_use]
    pub fn open_count(&self) -> usize {
        let open = self.entries.iter().filter(|one| !one.state.is_final());
        open.count()
    }

    /// The person of this number.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn person(&self, number: PersonNumber) -> Result<&Person, ContestError> {
        let found = self.people.iter().find(|person| person.number == number);
        found.map_or_else(
            || {
                invalid(format!(
                    "there is no person {number}; `arena contest people list {}` shows them",
                    self.contest.name
                ))
            },
            Ok,
        )
    }

    /// What came of an entry, as far as one who looks may see it: whose it is not, sees nothing.
    #[must_use]
    pub fn outcome(&self, entry: &Entry, viewer: Viewer) -> Option<EntryOutcome> {
        let is_told = viewer.sees(entry) && self.is_told(entry, viewer);
        is_told.then(|| {
            let outcome = EntryOutcome::of(entry);
            EntryOutcome {
                ours: outcome.ours.filter(|_| viewer == Viewer::Organiser),
                ..outcome
            }
        })
    }

    /// True if one who looks may see what came of an entry of their own.
    #[must_use]
    pub fn is_told(&self, entry: &Entry, viewer: Viewer) -> bool {
        self.rules.is_told(entry, viewer, self.phase)
    }

    /// All that was said of these entries, by number, as far as one who looks may see it: whose they are
    /// not, sees nothing. As long as an entry is not told of ([`is_told`](Self::is_told)) its owner sees
    /// what the build has printed.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub async fn details(
        &self,
        store: &Store,
        of: DetailsOf,
        viewer: Viewer,
    ) -> Result<BTreeMap<u64, EntryDetails>, ContestError> {
        let all = store.entry_details(self.contest.id, of).await?;
        let seen = self.entries.iter().filter(|entry| viewer.sees(entry));
        let details = seen.filter_map(|entry| {
            let details = all.get(&entry.number)?.clone();
            let details: EntryDetails = serde_json::from_value(details).unwrap_or_default();
            let told = match self.is_told(entry, viewer) {
                true => details,
                false => EntryDetails {
                    games: Vec::new(),
                    ..details
                },
            };
            Some((entry.number, told))
        });
        Ok(details.collect())
    }

    /// The name of a contestant for one who looks; empty where there is none.
    #[must_use]
    pub fn name_of(&self, contestant: u64, viewer: Viewer) -> String {
        let found = self.contestants.iter().find(|one| one.number == contestant);
        found.map_or_else(String::new, |one| name(one, &self.people, viewer))
    }

    /// How many entries are before this one: those that play and were handed in before, and those that
    /// are built before it, as the judge takes them in turn.
    #[must_use]
    pub fn ahead(&self, entry: &Entry) -> usize {
        let ahead = self.ahead.get_or_init(|| ahead(&self.entries));
        ahead.get(&entry.number).copied().unwrap_or(0)
    }
}

/// The one who looks, as a person of a contest.
#[must_use]
pub fn viewer(person: Option<&Person>) -> Viewer {
    match person.map(|person| (person.role, person.contestant)) {
        Some((Role::Organiser, _)) => Viewer::Organiser,
        Some((Role::Contestant, Some(number))) => Viewer::Contestant(number),
        _ => Viewer::Other,
    }
}

/// Hands in for a person.
///
/// # Errors
///
/// The person is no contestant; the store fails. What the rules refuse is the inner error.
pub async fn hand_in(
    store: &Store,
    contest: &Contest,
    person: &Person,
    part: u32,
    file: &str,
    bytes: &[u8],
    now_unix_ms: i64,
) -> Result<Result<Entry, Refusal>, ContestError> {
    let Some(contestant) = person.contestant else {
        return invalid("only contestants hand in");
    };
    if file.is_empty()
        || file.len() > LONGEST_FILE
        || file.contains('/')
        || !file.chars().all(is_printable)
    {
        return invalid(format!(
            "expected the name of a file, of 1 to {LONGEST_FILE} bytes, found \"{}\"",
            printable(file)
        ));
    }
    let rules = ContestRules::of(contest)?;
    if contest.published_unix_ms.is_some() {
        return invalid("the contest is over");
    }
    let size = bytes.len() as u64;
    let hash = hex::encode(Sha256::digest(bytes));
    let new = NewEntry {
        person: person.number,
        contestant,
        part,
        file,
        bytes,
        hash: &hash,
        received_unix_ms: now_unix_ms,
    };
    let decide = |contestant: &Contestant, before: &[Entry]| {
        rules.place(contestant, before, part, size, now_unix_ms)
    };
    Ok(store.hand_in(contest.id, &new, decide).await?)
}
