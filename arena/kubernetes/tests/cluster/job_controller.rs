//! The Job controller of a cluster, its queue (Kueue), and the collector of garbage.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    objects::{Finalizer, Index, Job, Kind, Owner, Pod, Stage},
    world::World,
};

/// The pause of an index whose pod failed, in milliseconds; it doubles with each.
const PAUSE: u64 = 10_000;

impl World {
    /// One step of everything about Jobs.
    pub(crate) fn step_jobs(&mut self) {
        let names: Vec<String> = self.jobs.keys().cloned().collect();
        for name in names {
            let Some(mut job) = self.jobs.remove(&name) else {
                continue;
            };
            let is_gone = self.step_job(&mut job);
            self.jobs.insert(name.clone(), job);
            if is_gone {
                self.remove_job(&name);
            }
        }
        self.collect_garbage();
    }

    /// One step of a Job. True where it goes.
    fn step_job(&mut self, job: &mut Job) -> bool {
        if job.meta.deleted.is_some() {
            self.count_pods(job);
            for number in 0..job.indexes.len() {
                self.let_go(&mut job.indexes[number]);
            }
            let pods_are_gone = || job.pods.iter().all(|pod| !self.pods.contains_key(pod));
            return match job.finalizer {
                Some(Finalizer::Foreground) => pods_are_gone(),
                Some(Finalizer::Until(until)) => self.now >= until,
                None => true,
            };
        }
        if let Some((_, at, _)) = &job.ended {
            let ttl = job.spec.ttl_seconds_after_finished.unwrap_or(i32::MAX);
            if self.now >= at + 1000 * u64::try_from(ttl).unwrap_or(u64::MAX / 2000) {
                self.count("TTL reached");
                return true;
            }
            return false;
        }
        if job.suspend && job.admitted.is_some_and(|at| self.now >= at) {
            job.suspend = false;
            job.suspend_is_others = true;
            job.dirty = true;
        }
        self.count_pods(job);
        let most = match job.suspend {
            true => 0,
            false => usize::try_from(job.parallelism).unwrap_or(0),
        };
        self.delete_surplus(job, most);
        self.make_pods(job, most);
        let active = (job.indexes.iter().filter_map(|index| index.pod.as_ref()))
            .filter(|name| {
                let pod = self.pods.get(*name);
                pod.is_some_and(|pod| pod.meta.deleted.is_none() && !pod.has_ended())
            })
            .count();
        let active = u32::try_from(active).unwrap_or(u32::MAX);
        if active != job.active {
            job.active = active;
            job.dirty = true;
        }
        let is_over = |index: &Index| (index.done || index.failed) && index.pod.is_none();
        if job.indexes.iter().all(is_over) {
            let failed = job.indexes.iter().any(|index| index.failed);
            let why = if failed { "Job has failed indexes" } else { "" };
            job.ended = Some((!failed, self.now, why.to_owned()));
            job.dirty = true;
            self.count(if failed {
                "Jobs failed"
            } else {
                "Jobs complete"
            });
        }
        false
    }

    /// Deletes pods of which there are too many, those that were made last first. They do not count.
    fn delete_surplus(&mut self, job: &mut Job, most: usize) {
        let there = job.indexes.iter().filter(|index| index.pod.is_some());
        if there.count() <= most {
            return;
        }
        let is_live = |pod: &Pod| pod.meta.deleted.is_none() && !pod.has_ended();
        let mut live: Vec<(bool, u64, usize)> = (job.indexes.iter().enumerate())
            .filter_map(|(number, index)| {
                let pod = self.pods.get(index.pod.as_ref()?)?;
                is_live(pod).then_some((pod.node.is_some(), pod.meta.created, number))
            })
            .collect();
        live.sort_unstable();
        // Those without a node go first, then the youngest.
        live.sort_by_key(|(placed, created, _)| (*placed, std::cmp::Reverse(*created)));
        let surplus = live.len().saturating_sub(most);
        for (_, _, number) in live.into_iter().take(surplus) {
            let index = &mut job.indexes[number];
            index.released = true;
            let Some(name) = index.pod.clone() else {
                continue;
            };
            if let Some(pod) = self.pods.get_mut(&name) {
                pod.finalizer = false;
            }
            self.delete_pod(&name, 30_000);
        }
    }

    /// Counts pods that have ended, each once.
    fn count_pods(&mut self, job: &mut Job) {
        let limit = job.spec.backoff_limit_per_index.unwrap_or(i32::MAX);
        let limit = u32::try_from(limit).unwrap_or(0);
        for index in &mut job.indexes {
            let Some(name) = index.pod.clone() else {
                continue;
            };
            let outcome = match self.pods.get_mut(&name) {
                // Somebody has removed it without asking.
                None => Some((false, index.released, 0)),
                Some(pod) => match pod.stage {
                    // One that failed is kept until it is replaced: it knows how often that was.
                    Stage::Ended { well: false } if !index.released && job.ended.is_none() => {
                        index.kept = Some(name.clone());
                        Some((false, pod.disrupted, pod.exit_code))
                    }
                    Stage::Ended { well } => {
                        pod.finalizer = false;
                        pod.dirty = true;
                        Some((well, index.released, pod.exit_code))
                    }
                    _ if pod.meta.deleted.is_some_and(|until| until <= self.now) => {
                        // It was deleted without grace: its kubelet is asked no more.
                        pod.finalizer = false;
                        None
                    }
                    _ => None,
                },
            };
            let is_leaving = self
                .pods
                .get(&name)
                .is_some_and(|pod| pod.meta.deleted.is_some());
            let is_free = self.pods.get(&name).is_some_and(|pod| !pod.finalizer);
            if is_leaving && is_free {
                self.remove_pod(&name);
            }
            let Some((well, ignored, code)) = outcome else {
                continue;
            };
            index.pod = None;
            index.released = false;
            job.dirty = true;
            if well {
                index.done = true;
            } else if !ignored {
                job.failed += 1;
                index.failures += 1;
                let refused = is_refusal(job.spec.pod_failure_policy.as_ref(), code);
                index.failed = refused || index.failures > limit;
                index.not_before = self.now + (PAUSE << index.failures.saturating_sub(1).min(5));
                if index.failed {
                    *self.counts.entry("indexes failed").or_default() += 1;
                }
            }
        }
        // No replacement follows.
        for number in 0..job.indexes.len() {
            if job.indexes[number].failed || job.indexes[number].done {
                self.let_go(&mut job.indexes[number]);
            }
        }
    }

    /// Takes the finalizer from the pod of an index that failed before.
    fn let_go(&mut self, index: &mut Index) {
        let Some(name) = index.kept.take() else {
            return;
        };
        let Some(pod) = self.pods.get_mut(&name) else {
            return;
        };
        pod.finalizer = false;
        pod.dirty = true;
        if pod.meta.deleted.is_some() {
            self.remove_pod(&name);
        }
    }

    fn make_pods(&mut self, job: &mut Job, most: usize) {
        if self.now < job.makes_again.0 {
            return;
        }
        let mut there = job
            .indexes
            .iter()
            .filter(|index| index.pod.is_some())
            .count();
        for number in 0..job.indexes.len() {
            let index = &job.indexes[number];
            let is_due =
                !index.done && !index.failed && index.pod.is_none() && self.now >= index.not_before;
            if !is_due {
                continue;
            }
            if there >= most {
                return;
            }
            let end = self.chance.below(36_u64.pow(5));
            let name = format!("{}-{number}-{}", job.meta.name, letters(end));
            if let Err(why) = self.admit_pod(&name, &job.template) {
                let message = format!("Error creating: {why}");
                self.failures
                    .insert(job.meta.name.clone(), (message, self.now));
                let (_, failures) = job.makes_again;
                job.makes_again = (
                    self.now + (1000 << failures.min(6)).min(60_000),
                    failures + 1,
                );
                return;
            }
            job.makes_again = (0, 0);
            there += 1;
            self.let_go(&mut job.indexes[number]);
            let mut labels = job.template.labels.clone();
            let job_name = job.meta.name.clone();
            labels.extend(BTreeMap::from([
                ("batch.kubernetes.io/job-name".to_owned(), job_name),
                (
                    "batch.kubernetes.io/job-completion-index".to_owned(),
                    number.to_string(),
                ),
            ]));
            let mut meta = self.meta(&name, labels);
            meta.owner = Some(Owner {
                kind: Kind::Job,
                name: job.meta.name.clone(),
                uid: job.meta.uid,
            });
            let pod = Pod::new(meta, Arc::clone(&job.template), true);
            self.count("pods of referees made");
            self.pods.insert(name.clone(), pod);
            job.pods.push(name.clone());
            job.indexes[number].pod = Some(name);
        }
    }

    /// Removes what belongs to something that is gone.
    fn collect_garbage(&mut self) {
        let orphans: Vec<String> = (self.pods.values())
            .filter(|pod| pod.meta.deleted.is_none())
            .filter(|pod| {
                let Some(owner) = &pod.meta.owner else {
                    return false;
                };
                let found = match owner.kind {
                    Kind::Job => self.jobs.get(&owner.name).map(|job| job.meta.uid),
                    Kind::Pod => self.pods.get(&owner.name).map(|pod| pod.meta.uid),
                };
                found != Some(owner.uid)
            })
            .map(|pod| pod.meta.name.clone())
            .collect();
        for name in orphans {
            self.delete_pod(&name, 30_000);
        }
        // Those of Jobs that are gone are counted by nobody.
        let uncounted: Vec<String> = (self.pods.values())
            .filter(|pod| pod.finalizer)
            .filter(|pod| {
                let owner = pod.meta.owner.as_ref();
                owner.is_some_and(|owner| !self.jobs.contains_key(&owner.name))
            })
            .map(|pod| pod.meta.name.clone())
            .collect();
        for name in uncounted {
            if let Some(pod) = self.pods.get_mut(&name) {
                pod.finalizer = false;
            }
        }
    }
}

/// True if the policy fails the index for this exit code.
fn is_refusal(policy: Option<&k8s_openapi::api::batch::v1::PodFailurePolicy>, code: i32) -> bool {
    let rules = policy.into_iter().flat_map(|policy| &policy.rules);
    rules.into_iter().any(|rule| {
        let on = rule.on_exit_codes.as_ref();
        rule.action == "FailIndex" && on.is_some_and(|on| on.values.contains(&code))
    })
}

fn letters(mut number: u64) -> String {
    let mut text = String::new();
    for _ in 0..5 {
        let digit = (number % 36) as u32;
        text.extend(char::from_digit(digit, 36));
        number /= 36;
    }
    text
}
