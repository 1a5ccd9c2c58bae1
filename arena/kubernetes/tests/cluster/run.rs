//! Runs a scenario to its end, and looks on the way whether what must hold does.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use arena_kubernetes::{Controller, Removed, Settings, names};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    api::{Api, ApiRates},
    arena::{Arena, Away, Cup},
    chance::Chance,
    objects::{BEGIN, Moment, Stage},
    scenario::{BadImage, Incident, Scenario},
    world::{Counts, Defect, Quota, Rates, World},
};

/// Longest time from when it is calm until everything is played and gone.
const RECOVERY: Moment = 3600 * 1000;
/// The same, from when all others are done, for the games of a bot whose image is there again.
const ITS_TURN: Moment = 3600 * 1000;
/// Longest time for which a bot's pod may be there, and not be told to end, after its referee has
/// ended.
const OUTLIVES: Moment = 90 * 1000;
/// Most Jobs that may be made for a match: after what people and faults remove, and after failures.
const MOST_MADE: u32 = 10;
/// So many more after each restart: which Jobs have failed before is forgotten then.
const AFTER_RESTART: u32 = 3;
/// The time for which everything must have been gone at the end.
const QUIET: Moment = 5 * 1000;

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) counts: Counts,
    pub(crate) trace: String,
    pub(crate) took: Moment,
}

/// A run that has failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) why: String,
    pub(crate) trace: String,
}

pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) api: Api,
    pub(crate) arena: Arc<Arena>,
    chance: Chance,
    begin: tokio::time::Instant,
    controller: Option<JoinHandle<()>>,
    next_incident: usize,
    /// The time at which the arena comes back.
    back: Option<Moment>,
    nodes_back: Vec<(Moment, usize)>,
    quota_until: Moment,
    away_until: Moment,
    /// Since when referees of bots' pods have ended.
    orphans: BTreeMap<String, Moment>,
    is_calm: bool,
    restarts: u32,
    /// The time from which the bad image was there again.
    good_since: Option<Moment>,
    named: bool,
    minute: (Moment, u64),
    key: String,
}

impl Scenario {
    /// Runs it to its end, on a thread of its own.
    pub(crate) fn run(&self, traced: bool) -> Result<Ended, Failure> {
        self.simulate(traced, async |run| run.run().await)
    }

    /// Does something in its cluster, which tells when it was over.
    pub(crate) fn simulate(
        &self,
        traced: bool,
        simulation: impl AsyncFnOnce(&mut Run) -> Result<Moment, String>,
    ) -> Result<Ended, Failure> {
        // The pauses of watches that fail are drawn from it.
        fastrand::seed(self.seed);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let mut run = Run::new(self.clone(), traced);
            let done = simulation(&mut run).await;
            run.stop();
            let world = run.api.world();
            let trace = world.trace();
            match done {
                Ok(took) => Ok(Ended {
                    counts: world.counts.clone(),
                    trace,
                    took,
                }),
                Err(why) => Err(Failure {
                    why: format!(
                        "seed {}: {why}\nat {} s; {}; {} Jobs, {} pods{}",
                        self.seed,
                        world.now / 1000,
                        run.arena.progress(),
                        world.jobs.len(),
                        world.pods.len(),
                        world.what_is_there(),
                    ),
                    trace,
                }),
            }
        })
    }
}

impl Run {
    fn new(scenario: Scenario, traced: bool) -> Self {
        let mut chance = Chance::new(scenario.seed ^ 0xfa11);
        let mut world = World::new(scenario.shape.clone(), chance.fork(), traced);
        world.shape.refused = scenario.refused;
        let api = Api::new(world, scenario.api, chance.fork());
        let arena = Arc::new(Arena::new(scenario.cup.clone(), scenario.most));
        let key = arena.key();
        Self {
            scenario,
            api,
            arena,
            chance,
            begin: tokio::time::Instant::now(),
            controller: None,
            next_incident: 0,
            back: None,
            nodes_back: Vec::new(),
            quota_until: 0,
            away_until: 0,
            orphans: BTreeMap::new(),
            is_calm: false,
            restarts: 0,
            good_since: None,
            named: false,
            minute: (0, 0),
            key,
        }
    }

    async fn run(&mut self) -> Result<Moment, String> {
        self.start();
        self.add_strangers();
        let mut empty_since = None;
        loop {
            let now = self.tick().await?;
            let is_done = self.is_calm && self.arena.is_over() && self.is_empty();
            empty_since = is_done.then(|| empty_since.unwrap_or(now));
            if empty_since.is_some_and(|since| now >= since + QUIET) {
                break;
            }
            let waits = matches!(self.scenario.bad, Some((_, BadImage::UntilOthersAreDone)))
                && self.good_since.is_none();
            let limit = self.good_since.unwrap_or(0).max(self.scenario.calm) + RECOVERY;
            if !waits && now > limit {
                return Err("it is not over in time".to_owned());
            }
        }
        self.arena.prove()?;
        let strangers = self.api.world().jobs.len();
        if strangers != 1 {
            return Err("the Job of somebody else is gone".to_owned());
        }
        Ok(self.begin.elapsed().as_millis() as Moment)
    }

    /// The cluster moves on for one step.
    async fn tick(&mut self) -> Result<Moment, String> {
        tokio::time::sleep(Duration::from_millis(self.scenario.tick)).await;
        let now = self.begin.elapsed().as_millis() as Moment;
        self.api.world().now = now;
        self.incidents(now);
        {
            let mut world = self.api.world();
            world.add_nodes();
            world.step_jobs();
            world.step_pods(&self.arena);
            world.publish_changes();
            world.tend_watches();
        }
        self.bad_image(now)?;
        self.look(now)?;
        Ok(now)
    }

    /// The cluster moves on until something is so.
    pub(crate) async fn until(
        &mut self,
        seconds: u64,
        is_so: impl Fn(&Self) -> bool,
    ) -> Result<Moment, String> {
        let begin = self.begin.elapsed().as_millis() as Moment;
        loop {
            let now = self.tick().await?;
            if is_so(self) {
                return Ok(now);
            }
            if now > begin + 1000 * seconds {
                return Err(format!("it has not come in {seconds} s"));
            }
        }
    }

    /// The controller removes everything, and the cluster moves on meanwhile.
    pub(crate) async fn remove_all(&mut self, within: Duration) -> Result<Removed, String> {
        self.stop();
        let controller = self.controller_of(self.scenario.settings.clone());
        let removing = tokio::spawn(async move { controller.remove_all(within).await });
        while !removing.is_finished() {
            self.tick().await?;
        }
        let removed = removing.await.map_err(|error| error.to_string())?;
        removed.map_err(|error| error.to_string())
    }

    fn controller_of(&self, settings: Settings) -> Controller<Arena> {
        let begin = self.begin;
        let clock = Box::new(move || BEGIN + begin.elapsed().as_secs() as i64);
        Controller::new(self.api.client(), settings, self.arena.clone(), clock)
    }

    /// A controller, made anew.
    pub(crate) fn start(&mut self) {
        self.restarts += 1;
        let mut settings = self.scenario.settings.clone();
        if self.scenario.shape.defect == Defect::OneJobMore {
            settings.max_jobs += 1;
        }
        let controller = self.controller_of(settings);
        self.controller = Some(tokio::spawn(async move {
            controller.run(&CancellationToken::new()).await;
        }));
    }

    fn stop(&mut self) {
        if let Some(controller) = self.controller.take() {
            controller.abort();
        }
    }

    /// A Job that is not the arena's.
    pub(crate) fn add_strangers(&self) {
        let mut world = self.api.world();
        let settings = arena_kubernetes::Settings {
            instance: "another".to_owned(),
            ..self.scenario.settings.clone()
        };
        let tournament = arena_kubernetes::PodTournament {
            key: "0123456789".to_owned(),
            name: "another".to_owned(),
            isolation: self.scenario.cup.isolation,
            games: 1,
            memory_mib: None,
            matches: Vec::new(),
        };
        let of = arena_kubernetes::PodMatch {
            number: 0,
            bots: Vec::new(),
            chunks: 1,
        };
        let job = arena_kubernetes::job(&settings, &tournament, &of, 1);
        let name = job.metadata.name.clone().unwrap_or_default();
        let body = serde_json::to_vec(&job).unwrap_or_default();
        world.apply(crate::objects::Kind::Job, &name, &body);
        // Nobody lets it begin.
        if let Some(job) = world.jobs.get_mut(&name) {
            job.suspend = true;
            job.admitted = None;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let world = self.api.world();
        world.jobs.len() <= 1 && world.pods.is_empty()
    }

    fn incidents(&mut self, now: Moment) {
        while let Some((at, incident)) = self.scenario.incidents.get(self.next_incident).copied() {
            if at > now {
                break;
            }
            self.next_incident += 1;
            self.happens(now, incident);
        }
        if self.back.is_some_and(|back| now >= back) {
            self.back = None;
            self.arena.open();
            self.start();
        }
        let mut world = self.api.world();
        self.nodes_back.retain(|(back, node)| {
            if now >= *back {
                world.find_node(*node);
            }
            now < *back
        });
        if now >= self.away_until {
            self.arena.set_away(Away::No);
        }
        if now >= self.quota_until {
            world.shape.quota = self.scenario.shape.quota;
        }
        if !self.is_calm && now >= self.scenario.calm {
            self.is_calm = true;
            world.shape.rates = Rates::default();
            world.shape.refused = None;
            self.api.faults().rates = ApiRates::default();
            world.tell(format_args!("it is calm"));
        }
    }

    fn happens(&mut self, now: Moment, incident: Incident) {
        let api = self.api.clone();
        let mut world = api.world();
        world.tell(format_args!("{incident:?}"));
        world.count("incidents");
        let job = |chance: &mut Chance, world: &World| {
            let jobs = world
                .jobs
                .values()
                .filter(|job| job.template.labels.contains_key(names::TOURNAMENT));
            let ours = jobs.filter(|job| job.meta.name.contains(&self.key));
            let ours: Vec<String> = ours.map(|job| job.meta.name.clone()).collect();
            chance.pick(&ours).cloned()
        };
        let pod = |chance: &mut Chance, world: &World| {
            let pods: Vec<String> = world.pods.keys().cloned().collect();
            chance.pick(&pods).cloned()
        };
        match incident {
            Incident::DeleteJob { foreground } => {
                if let Some(name) = job(&mut self.chance, &world) {
                    world.count("Jobs deleted by hand");
                    world.delete_job(&name, foreground);
                }
            }
            Incident::DeletePod | Incident::DeletePodAtOnce => {
                if let Some(name) = pod(&mut self.chance, &world) {
                    world.count("pods deleted by hand");
                    let grace = if incident == Incident::DeletePod {
                        30_000
                    } else {
                        0
                    };
                    world.delete_pod(&name, grace);
                }
            }
            Incident::Preempt => {
                if let Some(name) = pod(&mut self.chance, &world) {
                    world.count("preempted");
                    world.preempt(&name);
                }
            }
            Incident::RestartBot => {
                if let Some(name) = pod(&mut self.chance, &world) {
                    world.restart_bot(&name);
                }
            }
            Incident::LoseNode { back_after } => {
                let node = self.chance.below(world.nodes.len() as u64) as usize;
                world.lose_node(node);
                // It comes back empty.
                self.nodes_back.push((now + back_after.max(41_000), node));
            }
            Incident::ExpireWatches => world.expire_watches(),
            Incident::BreakWatches => world.break_watches(),
            Incident::StallWatches { stalled } => world.stall_watches(now + stalled),
            Incident::ApiDown { down } => self.api.faults().down_until = now + down,
            Incident::Quota { pods, lasts } => {
                world.shape.quota = Some(Quota::of_pods(pods as u64));
                self.quota_until = now + lasts;
            }
            Incident::StoreAway { elsewhere, lasts } => {
                let away = if elsewhere {
                    Away::Elsewhere
                } else {
                    Away::Unknown
                };
                self.arena.set_away(away);
                self.away_until = now + lasts;
            }
            Incident::RestartController => {
                drop(world);
                if self.back.is_none() {
                    self.stop();
                    self.start();
                }
            }
            Incident::RestartArena { down } => {
                drop(world);
                if self.back.is_none() {
                    self.stop();
                    self.arena.close();
                    self.back = Some(now + down);
                }
            }
        }
    }

    /// The image of a bot that can't be pulled for a while.
    fn bad_image(&mut self, now: Moment) -> Result<(), String> {
        let Some((bot, bad)) = self.scenario.bad else {
            return Ok(());
        };
        let is_bad = match bad {
            BadImage::Between(from, until) => (from..until).contains(&now),
            BadImage::UntilOthersAreDone if self.good_since.is_some() => false,
            BadImage::UntilOthersAreDone => {
                let named = format!("bot-{bot:03} can't be started");
                self.named |= self
                    .arena
                    .troubles()
                    .iter()
                    .any(|one| one.starts_with(&named));
                let is_done = self.is_calm && self.arena.is_up() && self.arena.only_plays(bot);
                if !is_done && now > self.scenario.calm + RECOVERY {
                    return Err(format!(
                        "bot-{bot:03}, which can't be started, holds others up"
                    ));
                }
                // Its turn may come late; then it is said.
                if is_done && self.named {
                    self.good_since = Some(now);
                }
                if is_done && now > self.scenario.calm + RECOVERY + ITS_TURN {
                    return Err(format!("nobody says that bot-{bot:03} can't be started"));
                }
                self.good_since.is_none()
            }
        };
        let mut world = self.api.world();
        let image = Cup::image(bot);
        let was_bad = world.bad_images.contains(&image);
        if is_bad && !was_bad {
            world.tell(format_args!("the image of bot-{bot:03} is gone"));
            world.bad_images.insert(image);
        } else if was_bad && !is_bad {
            world.tell(format_args!("the image of bot-{bot:03} is there"));
            world.bad_images.remove(&image);
        }
        Ok(())
    }

    /// Looks whether what must hold at every moment does.
    fn look(&mut self, now: Moment) -> Result<(), String> {
        let world = self.api.world();
        if let Some(broken) = &world.broken {
            return Err(broken.clone());
        }
        let mut live = 0;
        let mut exist = 0;
        let mut matches: BTreeMap<&str, &str> = BTreeMap::new();
        for job in world.jobs.values() {
            let label = |name: &str| job.meta.labels.get(name).map(String::as_str);
            if label(names::TOURNAMENT) != Some(&self.key) {
                continue;
            }
            exist += 1;
            live += usize::from(job.meta.deleted.is_none());
            if job.is_live()
                && !job.suspend
                && let Some(of) = label(names::MATCH)
                && let Some(other) = matches.insert(of, &job.meta.name)
            {
                return Err(format!("{other} and {} are of one match", job.meta.name));
            }
        }
        let most = self.scenario.settings.max_jobs;
        if live > most || exist > most {
            return Err(format!(
                "there are {exist} Jobs, {live} of which are not being deleted, and may be {most}"
            ));
        }
        self.orphans.retain(|name, _| world.pods.contains_key(name));
        for (name, pod) in &world.pods {
            let Some(owner) = pod.meta.owner.as_ref().filter(|_| pod.template.restarts) else {
                continue;
            };
            let referee = world.pods.get(&owner.name);
            let plays = referee.is_some_and(|referee| {
                referee.meta.uid == owner.uid && !matches!(referee.stage, Stage::Ended { .. })
            });
            // While there is no controller nobody can do it.
            if plays || pod.meta.deleted.is_some() || self.back.is_some() {
                self.orphans.remove(name);
                continue;
            }
            let since = *self.orphans.entry(name.clone()).or_insert(now);
            if now > since + OUTLIVES {
                return Err(format!("the pod {name} of a bot has outlived its referee"));
            }
        }
        // So many requests are enough for what there is.
        let (since, before) = self.minute;
        if now >= since + 60_000 {
            let requests = self.api.faults().requests;
            let most = 200 + 60 * self.scenario.settings.max_jobs as u64;
            if requests - before > most {
                let found = requests - before;
                return Err(format!(
                    "{found} requests in a minute, and {most} are enough"
                ));
            }
            self.minute = (now, requests);
        }
        if let Some((of, made)) = world.made.iter().max_by_key(|(_, made)| **made)
            && *made > MOST_MADE + AFTER_RESTART * self.restarts
        {
            return Err(format!("{made} Jobs have been made for match {of}"));
        }
        Ok(())
    }
}
