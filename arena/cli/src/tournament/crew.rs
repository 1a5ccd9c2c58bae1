//! The bots of a tournament, and which processes play a chunk of it.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use arena_ladder::{Entrant, Lineup};
use futures_util::future::join_all;
use referee::Bot;

use crate::entry::{Entry, Start};

/// Of bots that nobody plays with just now, so many keep their processes.
const KEPT: usize = 16;

/// Everybody who may have to play.
pub(crate) struct Crew {
    pub(crate) entries: Vec<Entry>,
    filler: Entry,
    start: Start,
    /// Whether every chunk is played by processes of its own.
    fresh: bool,
    shared: RefCell<Shared>,
}

/// Bots whose processes play several chunks.
#[derive(Default)]
struct Shared {
    bots: BTreeMap<Option<Entrant>, Hired>,
    moment: u64,
}

struct Hired {
    bot: Arc<Bot>,
    /// How many chunks it plays in.
    chunks: usize,
    /// When it was last needed.
    last: u64,
}

/// The bots of one chunk, in order of its lineup.
pub(crate) struct Hands {
    pub(crate) bots: Vec<Arc<Bot>>,
    pub(crate) names: Vec<String>,
    lineup: Lineup,
}

impl Crew {
    pub(crate) fn new(entries: Vec<Entry>, filler: Entry, start: Start, fresh: bool) -> Self {
        Self {
            entries,
            filler,
            start,
            fresh,
            shared: RefCell::default(),
        }
    }

    /// Who plays a chunk; nobody has a process before it is needed.
    pub(crate) fn hire(&self, lineup: &Lineup) -> anyhow::Result<Hands> {
        let lot = self.start.next_lot();
        let mut bots: Vec<Arc<Bot>> = Vec::new();
        let mut names = Vec::new();
        for (place, who) in lineup.iter().enumerate() {
            let entry = self.entry(*who);
            names.push(match who {
                Some(_) => entry.name.clone(),
                None => filler_name(place),
            });
            // One filler may sit in several seats of a table.
            let before = lineup.iter().take(place).position(|other| other == who);
            if let Some(before) = before {
                bots.push(bots[before].clone());
            } else if self.fresh && entry.is_ours_to_start() {
                bots.push(entry.bot(&self.start, lot)?);
            } else {
                bots.push(self.share(*who, entry, lot)?);
            }
        }
        Ok(Hands {
            bots,
            names,
            lineup: lineup.clone(),
        })
    }

    fn share(&self, who: Option<Entrant>, entry: &Entry, lot: u64) -> anyhow::Result<Arc<Bot>> {
        let mut shared = self.shared.borrow_mut();
        shared.moment += 1;
        let moment = shared.moment;
        if let Some(hired) = shared.bots.get_mut(&who) {
            hired.chunks += 1;
            hired.last = moment;
            return Ok(hired.bot.clone());
        }
        let bot = entry.bot(&self.start, lot)?;
        let hired = Hired {
            bot: bot.clone(),
            chunks: 1,
            last: moment,
        };
        shared.bots.insert(who, hired);
        Ok(bot)
    }

    /// A chunk has been played. Processes that nobody will need soon are stopped.
    pub(crate) async fn let_go(&self, hands: Hands) {
        let mut idle = Vec::new();
        {
            let mut shared = self.shared.borrow_mut();
            for (place, who) in hands.lineup.iter().enumerate() {
                if hands.lineup[..place].contains(who) {
                    continue;
                }
                match shared.bots.get_mut(who) {
                    Some(hired) => hired.chunks -= 1,
                    None => idle.push(hands.bots[place].clone()),
                }
            }
            while shared.bots.len() > KEPT {
                let unused = shared.bots.iter().filter(|(_, hired)| hired.chunks == 0);
                let Some(oldest) = unused.min_by_key(|(_, hired)| hired.last) else {
                    break;
                };
                let who = *oldest.0;
                idle.extend(shared.bots.remove(&who).map(|hired| hired.bot));
            }
        }
        join_all(idle.iter().map(|bot| bot.stop())).await;
    }

    /// Stops everybody.
    pub(crate) async fn dismiss(&self) {
        let bots = std::mem::take(&mut self.shared.borrow_mut().bots);
        join_all(bots.values().map(|hired| hired.bot.stop())).await;
    }

    fn entry(&self, who: Option<Entrant>) -> &Entry {
        who.map_or(&self.filler, |entrant| &self.entries[entrant.index()])
    }
}

/// What one is called that takes the seat of nobody, by its place in the lineup.
pub(super) fn filler_name(place: usize) -> String {
    format!("filler-{}", place + 1)
}
