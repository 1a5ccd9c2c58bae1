//! Kills at moments of chance: of the arena, of workers, of idle bots, of the database. The table
//! of each tournament is that of one that is played alone.

use std::{env, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use crate::{postgres::Postgres, processes::bots_of, site::Site, vocabulary::*};

/// Name of the variable for the number of kills in all of these tests; `cargo xtask soak kills`
/// sets more.
const KILLS: &str = "ARENA_TEST_KILLS";
const USUAL_KILLS: u32 = 40;
/// The bots are idle between tournaments.
const KILLS_IN_A_TOURNAMENT: u32 = 7;

/// A part of all kills.
fn kills(hundredths: u32) -> u32 {
    let kills = env::var(KILLS).map_or(USUAL_KILLS, |kills| kills.parse().unwrap());
    (kills * hundredths).div_ceil(100)
}

/// Number of kills of each kind.
#[derive(Debug, Default)]
struct Killed {
    arena: u32,
    workers: u32,
    bots: u32,
    postgres: u32,
}

impl Killed {
    fn all(&self) -> u32 {
        self.arena + self.workers + self.bots + self.postgres
    }

    fn has_all(&self, with_postgres: bool) -> bool {
        self.arena > 0 && self.workers > 0 && self.bots > 0 && (self.postgres > 0 || !with_postgres)
    }
}

/// An arena and three workers that are killed while they play.
struct Targets {
    site: Site,
    postgres: Option<Postgres>,
    random: StdRng,
    killed: Killed,
    /// So many tournaments have been played.
    played: u32,
}

impl Targets {
    fn new(postgres: Option<Postgres>, seed: u64) -> Self {
        let mut site = match &postgres {
            Some(postgres) => Site::with_store(&postgres.url()),
            None => Site::new(),
        };
        // A bot that travels, as a process of its own on each worker.
        site.add_villain("traveller", "slow --delay 1ms", "");
        site.serve("--open --concurrency 0");
        site.worker("--name one");
        site.worker("--name two");
        site.referee("--name three");
        Self {
            site,
            postgres,
            random: StdRng::seed_from_u64(seed),
            killed: Killed::default(),
            played: 0,
        }
    }

    /// Plays tournaments until there were so many kills, some of each kind.
    fn suffer(mut self, kills: u32) {
        while self.killed.all() < kills || !self.killed.has_all(self.postgres.is_some()) {
            self.play(KILLS_IN_A_TOURNAMENT);
            self.kill_idle_bots();
        }
        // The bots that were killed last are started again too.
        self.play(0);
        let (tournaments, kills) = (self.played, self.killed.all());
        eprintln!(
            "{kills} kills in {tournaments} tournaments: {:?}",
            self.killed
        );
    }

    /// Plays one tournament, with at most so many kills while it goes on.
    fn play(&mut self, most: u32) {
        self.played += 1;
        let (cup, alone) = (
            format!("cup-{}", self.played),
            format!("alone-{}", self.played),
        );
        let bots = ["house:random", "house:random", "traveller"];
        // A table must not depend on how busy the machine is.
        let more = "deals = 50\nlimits.move = \"10m\"\nlimits.start = \"10m\"";
        self.site.cup("cup.toml", "connect-four", more, &bots);
        let seed = self.random.random_range(0..1_000_000);
        let run = |verb: &str, name: &str| {
            format!("tournament {verb} cup.toml --name {name} --seed {seed}")
        };
        self.site.run(&run("run", &alone));
        self.site.run(&run("submit", &cup));
        let mut games = 0;
        for _ in 0..most {
            if !self.goes_on(&cup, &mut games) {
                break;
            }
            let time = self.random.random_range(0..300);
            std::thread::sleep(Duration::from_millis(time));
            self.kill();
        }
        self.site.wait_for(&cup, "over");
        self.site.is_as(&cup, &alone);
    }

    /// Waits for another game, and for the workers after a kill; false where it is over.
    fn goes_on(&self, cup: &str, games: &mut u64) -> bool {
        let before = *games;
        let mut goes_on = true;
        let progress = || {
            (*games, goes_on) = self.site.progress(cup);
            *games > before || !goes_on
        };
        wait_until_or("there is progress", || self.site.log(), progress);
        goes_on
    }

    fn kill(&mut self) {
        let postgres = self.postgres.as_mut();
        match (self.random.random_range(0..6), postgres) {
            (4 | 5, Some(postgres)) => {
                postgres.restart();
                self.killed.postgres += 1;
            }
            (0 | 1, _) => {
                self.site.restart(0);
                self.killed.arena += 1;
            }
            _ => {
                self.site.restart(self.random.random_range(1..4));
                self.killed.workers += 1;
            }
        }
    }

    /// Kills a bot of each worker. None of them plays, since there is no tournament.
    fn kill_idle_bots(&mut self) {
        for worker in &self.site.processes[1..] {
            let bots = bots_of(&worker.child);
            let at = self.random.random_range(0..4);
            if let Some(bot) = bots.get(at).or(bots.first()) {
                bot.kill();
                self.killed.bots += 1;
            }
        }
    }
}

#[test]
fn kills_of_the_arena_of_workers_and_of_bots_leave_the_table_unchanged() {
    Targets::new(None, 17).suffer(kills(60));
}

#[test]
fn kills_of_the_database_too_leave_the_table_unchanged_on_postgres() {
    let postgres = Postgres::start();
    Targets::new(Some(postgres), 23).suffer(kills(40));
}
