//! The deals that were played: a file with one line of JSON for each.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::experiments::Experiment;

/// A deal that was played from one seat or from each.
#[derive(Serialize, Deserialize)]
pub(crate) struct Played {
    pub(crate) experiment: String,
    pub(crate) deal: u64,
    pub(crate) games: Vec<Game>,
}

/// The measured bot's result in one game, and the time that it took.
#[derive(Serialize, Deserialize)]
pub(crate) struct Game {
    /// Its place from 1, the best; who shares places has their mean.
    pub(crate) place: f64,
    /// Its score, in the unit of the game.
    pub(crate) score: i32,
    /// The sum of the others' scores.
    pub(crate) others: i32,
    /// Number of its answers, and the mean and the longest time for one, in microseconds.
    pub(crate) moves: u32,
    pub(crate) mean_us: u64,
    pub(crate) longest_us: u64,
}

/// A line of the file: the deal, and a hash of the source of the bots that played it.
#[derive(Serialize, Deserialize)]
struct Line {
    bots: String,
    #[serde(flatten)]
    played: Played,
}

/// All results of the bots as they are now.
pub(crate) struct Results {
    file: File,
    /// By experiment: the hash of its bots.
    bots: BTreeMap<String, String>,
    /// By experiment and deal.
    played: BTreeMap<String, BTreeMap<u64, Vec<Game>>>,
    /// The deals that are being played.
    taken: BTreeSet<(String, u64)>,
}

impl Results {
    /// Reads the file, which need not exist. What bots have played whose source was another one
    /// is left out.
    pub(crate) fn open(path: &Path, experiments: &[Experiment]) -> Result<Self, String> {
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let mut bots = BTreeMap::new();
        for it in experiments {
            bots.insert(it.title(), source_of(it)?);
        }
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(failed)?,
        };
        let mut played = BTreeMap::<String, BTreeMap<_, _>>::new();
        // A line that was cut off has no end.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        for line in whole.lines() {
            let line: Line = serde_json::from_str(line)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            if bots.get(&line.played.experiment) == Some(&line.bots) {
                let Played {
                    experiment,
                    deal,
                    games,
                } = line.played;
                played.entry(experiment).or_default().insert(deal, games);
            }
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(failed)?;
        file.set_len(whole.len() as u64).map_err(failed)?;
        Ok(Self {
            file,
            bots,
            played,
            taken: BTreeSet::new(),
        })
    }

    /// The next deal of the experiment that is least complete; none if all are complete.
    pub(crate) fn take<'a>(
        &mut self,
        experiments: &[&'a Experiment],
    ) -> Option<(&'a Experiment, u64)> {
        let next = |it: &Experiment| {
            let title = it.title();
            let played = self.played.get(&title);
            let is_free = |deal: &u64| {
                !played.is_some_and(|played| played.contains_key(deal))
                    && !self.taken.contains(&(title.clone(), *deal))
            };
            (0..it.deals).find(is_free)
        };
        let (experiment, deal) = experiments
            .iter()
            .filter_map(|it| Some((*it, next(it)?)))
            .min_by(|(one, deal), (other, its)| (deal * other.deals).cmp(&(its * one.deals)))?;
        self.taken.insert((experiment.title(), deal));
        Some((experiment, deal))
    }

    /// Writes what was played.
    pub(crate) fn add(&mut self, played: Played) -> Result<(), String> {
        let line = Line {
            bots: self
                .bots
                .get(&played.experiment)
                .cloned()
                .unwrap_or_default(),
            played,
        };
        let mut text = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .map_err(|error| format!("the results could not be written: {error}"))?;
        let Played {
            experiment,
            deal,
            games,
        } = line.played;
        self.played
            .entry(experiment)
            .or_default()
            .insert(deal, games);
        Ok(())
    }

    /// The deals of an experiment.
    pub(crate) fn of(&self, experiment: &Experiment) -> Vec<&[Game]> {
        let played = self.played.get(&experiment.title());
        played.map_or_else(Vec::new, |deals| {
            deals.values().map(Vec::as_slice).collect()
        })
    }
}

/// A hash of the source of all bots of an experiment: of the crate of each, where it has one, and
/// of its file here.
fn source_of(experiment: &Experiment) -> Result<String, String> {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut hash = Sha256::new();
    for spec in [&experiment.bot].into_iter().chain(&experiment.others) {
        let name = spec.split('?').next().unwrap_or(spec);
        let mut files = vec![house.join("src").join(format!("{name}.rs"))];
        let folder = house.with_file_name(name);
        if folder.is_dir() {
            for part in in_folder(&folder)? {
                let is_built = ["src", "data", "book.bin", "weights.bin", "wide.bin"]
                    .iter()
                    .any(|it| part.ends_with(it));
                if is_built {
                    add_files(part, &mut files)?;
                }
            }
        }
        files.sort();
        for file in files {
            hash.update(fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
        }
    }
    Ok(hex::encode(&hash.finalize()[..8]))
}

/// Adds a file, or all files of a folder.
fn add_files(path: PathBuf, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if path.is_dir() {
        for part in in_folder(&path)? {
            add_files(part, files)?;
        }
    } else {
        files.push(path);
    }
    Ok(())
}

fn in_folder(path: &Path) -> Result<Vec<PathBuf>, String> {
    let parts = path
        .read_dir()
        .and_then(|parts| parts.map(|it| Ok(it?.path())).collect());
    parts.map_err(|error| format!("{}: {error}", path.display()))
}
