//! A contest with all that belongs to it, read at once, and what is done to it by people.

use std::collections::BTreeSet;

use arena_store::{
    By, Contest, ContestRun, ContestRunKind, Contestant, Entry, NewContest, NewEntry, Person,
    PersonNumber, Role, Store,
};
use arena_tournament::secret_root;
use referee_core::{is_printable, printable};
use sha2::{Digest as _, Sha256};

use crate::{
    Board, ContestError, ContestRules, EntryOutcome, Phase, Refusal, Viewer, error::invalid,
    judge::outcome_of,
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
    /// Rounds of the league and the final, in the order in which they began.
    pub meetings: Vec<ContestRun>,
    /// Its phase.
    pub phase: Phase,
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
        let Some(contest) = store.contest(name).await? else {
            return invalid(format!(
                "there is no contest \"{name}\"; `arena contest list` shows those that there are"
            ));
        };
        let rules = ContestRules::of(&contest)?;
        Ok(Self {
            people: store.people(contest.id).await?,
            contestants: store.contestants(contest.id).await?,
            entries: store.entries(contest.id).await?,
            trials: store.trials(contest.id).await?,
            meetings: store.meetings(contest.id).await?,
            phase: rules.phase(now_unix_ms, contest.published_unix_ms.is_some()),
            rules,
            contest,
        })
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

    /// Reason why it can't be published yet: entries, the deadline or the final are waited for.
    ///
    /// # Errors
    ///
    /// [`ContestError::Invalid`] says what is waited for.
    pub fn check_over(&self) -> Result<(), ContestError> {
        let rules = &self.rules;
        let open = self.entries.iter().filter(|one| !one.state.is_final());
        let open = open.count();
        let is_over = |run: &ContestRun| run.kind == ContestRunKind::Final && run.result.is_some();
        let official = self.entries.iter().filter(|one| one.place.official);
        let could_meet = official
            .map(|one| one.contestant)
            .collect::<BTreeSet<_>>()
            .len()
            > 1;
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

    /// What came of an entry, as far as one who looks may see it: whose it is not, sees nothing. As
    /// long as it is not told of ([`ContestRules::is_told`]) its owner sees what the build has printed.
    #[must_use]
    pub fn outcome(&self, entry: &Entry, viewer: Viewer) -> Option<EntryOutcome> {
        let is_theirs = match viewer {
            Viewer::Organiser => true,
            Viewer::Contestant(number) => number == entry.contestant,
            Viewer::Other => false,
        };
        let outcome = is_theirs.then(|| outcome_of(entry))?;
        let all = EntryOutcome {
            ours: outcome.ours.filter(|_| viewer == Viewer::Organiser),
            ..outcome
        };
        Some(match self.rules.is_told(entry, viewer, self.phase) {
            true => all,
            false => EntryOutcome {
                log: all.log,
                ..EntryOutcome::default()
            },
        })
    }

    /// How many entries are to be built before this one, or are being judged now.
    #[must_use]
    pub fn ahead(&self, entry: &Entry) -> usize {
        let is_ahead = |one: &&Entry| !one.state.is_final() && one.number < entry.number;
        self.entries.iter().filter(is_ahead).count()
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
