//! The scheduler and the kubelets of a cluster: what they do with pods, and what becomes of pods
//! whose node is gone.

use crate::{
    arena::Arena,
    objects::{Doing, Moment, Pod, Stage},
    world::{Autoscaler, Defect, Node, World},
};

/// Longest silence of a node before its pods are given up, in milliseconds.
const GIVEN_UP_AFTER: Moment = 40_000;

impl World {
    /// One step of every pod.
    pub(crate) fn step_pods(&mut self, arena: &Arena) {
        let names: Vec<String> = self.pods.keys().cloned().collect();
        for name in names {
            let Some(mut pod) = self.pods.remove(&name) else {
                continue;
            };
            let is_gone = self.step_pod(&mut pod, arena);
            self.pods.insert(name.clone(), pod);
            if is_gone {
                self.remove_pod(&name);
            }
        }
    }

    /// One step of a pod. True where it is removed.
    fn step_pod(&mut self, pod: &mut Pod, arena: &Arena) -> bool {
        if self.shape.defect == Defect::KeepsPods && pod.meta.deleted.is_some() {
            return false;
        }
        if pod.has_ended() {
            return pod.meta.deleted.is_some() && !pod.finalizer;
        }
        if let Some(node) = pod.node
            && let Some(since) = self.nodes[node].gone
        {
            // Nothing of it plays any more, and nobody hears of it for a while.
            self.plays.remove(&pod.meta.name);
            if self.now < since + GIVEN_UP_AFTER {
                return false;
            }
            self.count("pods of lost nodes");
            pod.disrupted = true;
            pod.meta.deleted.get_or_insert(self.now);
            self.end(pod, 137, "the node is gone");
            return !pod.finalizer;
        }
        if pod.meta.deleted.is_some() {
            self.stop(pod, arena);
            return pod.has_ended() && !pod.finalizer;
        }
        match pod.stage {
            Stage::New => self.place(pod),
            Stage::Placed | Stage::Stuck if self.now >= pod.at => self.start(pod),
            Stage::Up if pod.is_referee() => self.step_referee(pod, arena),
            _ => {}
        }
        false
    }

    /// Finds a node with room.
    fn place(&mut self, pod: &mut Pod) {
        let nodes = || self.nodes.iter().enumerate();
        let free = nodes().filter(|(_, node)| node.gone.is_none() && node.used < node.room);
        let Some((number, _)) = free.min_by_key(|(_, node)| node.used) else {
            if !pod.unschedulable {
                self.count("unschedulable");
                pod.unschedulable = true;
                pod.dirty = true;
            }
            return;
        };
        self.nodes[number].used += 1;
        pod.node = Some(number);
        pod.unschedulable = false;
        pod.stage = Stage::Placed;
        pod.dirty = true;
        pod.at = self.now + self.chance.between(200, self.shape.slowest_start.max(200));
    }

    /// Starts containers as far as their images can be pulled.
    fn start(&mut self, pod: &mut Pod) {
        let number = pod.meta.uid;
        pod.ip.get_or_insert_with(|| {
            format!("10.{}.{}.{}", number >> 16, number >> 8 & 255, number & 255)
        });
        pod.dirty = true;
        let template = pod.template.clone();
        let mut is_held_up = false;
        let mut is_stuck = false;
        for (wanted, status) in template.containers.iter().zip(&mut pod.containers) {
            // Those that come first have to run first.
            if is_held_up {
                continue;
            }
            let is_bad = self
                .bad_images
                .iter()
                .any(|bad| wanted.image.starts_with(&**bad));
            status.doing = match is_bad {
                false if wanted.is_init && !wanted.is_sidecar => Doing::Ended(0, String::new()),
                false => Doing::Running,
                true => {
                    is_stuck = true;
                    is_held_up = wanted.is_init;
                    let (reason, message) = match status.doing {
                        Doing::Waiting("ErrImagePull", _) => {
                            ("ImagePullBackOff", "Back-off pulling image \"…\"")
                        }
                        _ => ("ErrImagePull", "manifest unknown: \u{1b}[31mno such image"),
                    };
                    Doing::Waiting(reason, message.to_owned())
                }
            };
        }
        if is_stuck {
            self.count("stuck");
            pod.stage = Stage::Stuck;
            pod.at = self.now + self.chance.between(5000, 20_000);
        } else {
            pod.stage = Stage::Up;
            pod.at = self.now;
        }
    }

    /// A pod that is to end does so after a moment.
    fn stop(&mut self, pod: &mut Pod, arena: &Arena) {
        let deadline = pod.meta.deleted.unwrap_or(self.now);
        if pod.stage != Stage::Up {
            self.end(pod, 137, "");
            return;
        }
        let reacts = match pod.reacts {
            Some(reacts) => reacts,
            None => {
                // Some do not hear it, and are killed.
                let hears = self.chance.permille(850);
                let after = self.chance.between(200, 4000);
                let reacts = if hears { self.now + after } else { deadline };
                pod.reacts = Some(reacts);
                reacts
            }
        };
        if self.now >= deadline {
            self.plays.remove(&pod.meta.name);
            self.end(pod, 137, "killed");
        } else if self.now >= reacts {
            if let Some(play) = self.plays.remove(&pod.meta.name) {
                play.give_back(arena);
            }
            let code = if self.chance.permille(300) { 0 } else { 75 };
            self.end(pod, code, "told to end");
        }
    }

    /// All containers of a pod end.
    pub(crate) fn end(&mut self, pod: &mut Pod, code: i32, why: &str) {
        if pod.has_ended() {
            return;
        }
        self.plays.remove(&pod.meta.name);
        if let Some(node) = pod.node {
            self.nodes[node].used -= 1;
        }
        for status in &mut pod.containers {
            if status.doing == Doing::Running {
                status.doing = Doing::Ended(code, why.to_owned());
            }
        }
        pod.stage = Stage::Ended { well: code == 0 };
        pod.exit_code = code;
        pod.ended = Some(self.now);
        pod.dirty = true;
    }

    /// Adds nodes where pods have found none for a while.
    pub(crate) fn add_nodes(&mut self) {
        let Some(Autoscaler { room, most, takes }) = self.shape.autoscaler else {
            return;
        };
        let waiting = self.pods.values().filter(|pod| pod.unschedulable).count() as u32;
        self.counts
            .entry("most pods that no node took")
            .and_modify(|most| *most = (*most).max(waiting.into()))
            .or_insert(waiting.into());
        match self.nodes_at {
            None if waiting > 0 => self.nodes_at = Some((self.now + takes, waiting.div_ceil(room))),
            Some((at, number)) if self.now >= at => {
                self.nodes_at = None;
                for _ in 0..number {
                    if self.nodes.len() < most {
                        self.nodes.push(Node::new(room));
                    }
                }
            }
            _ => {}
        }
    }

    /// A node is gone; or there again, empty.
    pub(crate) fn lose_node(&mut self, number: usize) {
        self.nodes[number].gone.get_or_insert(self.now);
    }

    pub(crate) fn find_node(&mut self, number: usize) {
        self.nodes[number].gone = None;
    }

    /// A pod makes room for others.
    pub(crate) fn preempt(&mut self, name: &str) {
        if let Some(pod) = self.pods.get_mut(name) {
            pod.disrupted = true;
            pod.dirty = true;
        }
        self.delete_pod(name, 30_000);
    }

    /// A bot takes more memory than it has, and is started again.
    pub(crate) fn restart_bot(&mut self, name: &str) {
        let Some(pod) = self.pods.get_mut(name) else {
            return;
        };
        let template = pod.template.clone();
        for (wanted, status) in template.containers.iter().zip(&mut pod.containers) {
            if wanted.name.starts_with("bot-") && status.doing == Doing::Running {
                status.restarts += 1;
                pod.dirty = true;
            }
        }
    }
}
