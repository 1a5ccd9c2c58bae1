//! The walls around a container, as the engine is asked for them.

use std::collections::HashMap;

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig, Mount,
    MountType, ResourcesUlimits,
};

use crate::{engine::CREATOR, plan::ContainerPlan};

/// The processor time of a core, as engines count it.
const CORE: i64 = 1_000_000_000;
/// Room in `/dev/shm`, in bytes. What is in it counts as memory.
const SHARED: i64 = 16 << 20;
/// Its processes are killed first when the machine has no memory.
const KILLED_FIRST: i64 = 500;

/// The container that the engine is to create.
pub(crate) fn container(plan: &ContainerPlan) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(plan.image.clone()),
        cmd: (!plan.arguments.is_empty()).then(|| plan.arguments.clone()),
        env: Some(plan.environment.clone()),
        user: Some(plan.user.clone()),
        hostname: Some("bot".to_owned()),
        labels: Some(HashMap::from([(CREATOR.to_owned(), plan.name.clone())])),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        host_config: Some(host(plan)),
        ..ContainerCreateBody::default()
    }
}

fn host(plan: &ContainerPlan) -> HostConfig {
    let limits = &plan.limits;
    let number = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
    let memory = limits.memory.map(number);
    let limit = |name: &str, most: u64| ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(number(most)),
        hard: Some(number(most)),
    };
    HostConfig {
        // It reaches nobody but us, by its socket.
        network_mode: Some("none".to_owned()),
        mounts: Some(vec![socket_folder(plan)]),
        readonly_rootfs: Some(true),
        tmpfs: Some(private_folders(plan)),
        shm_size: Some(SHARED),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        privileged: Some(false),
        ipc_mode: Some("private".to_owned()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        userns_mode: plan.keeps_user.then(|| "keep-id".to_owned()),
        memory,
        // No more with swap than without.
        memory_swap: memory,
        oom_score_adj: Some(KILLED_FIRST),
        pids_limit: limits.processes.map(i64::from),
        nano_cpus: limits
            .cpu_percent
            .map(|percent| CORE / 100 * i64::from(percent)),
        cpuset_cpus: plan.cores.clone(),
        ulimits: Some(vec![
            limit("nofile", limits.open_files),
            limit("fsize", limits.file_size),
            limit("core", 0),
        ]),
        // We read what it prints, up to a limit; the engine would write it to its disk.
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        ..HostConfig::default()
    }
}

fn socket_folder(plan: &ContainerPlan) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(plan.socket_folder.to_string_lossy().into_owned()),
        target: Some(plan.socket_folder_inside.clone()),
        read_only: Some(false),
        ..Mount::default()
    }
}

/// Folders where it may write; all is gone with it.
fn private_folders(plan: &ContainerPlan) -> HashMap<String, String> {
    let (bytes, files) = (plan.limits.disk, plan.limits.files);
    let options = format!("rw,nosuid,nodev,size={bytes},nr_inodes={files},mode=1777");
    ["/tmp", "/var/tmp"]
        .into_iter()
        .map(|folder| (folder.to_owned(), options.clone()))
        .collect()
}
