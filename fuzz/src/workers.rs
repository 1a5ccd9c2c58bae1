//! The data that arenas and workers read of each other: messages, and archives of bots.

use std::fs;

use arena_proto::arena::v1 as proto;
use prost::Message as _;
use referee_bots::{
    Schemes,
    archive::{ArchiveHash, unpack_archive},
};
use referee_worker::remote::wire;
use sha2::{Digest as _, Sha256};

/// A block of a tar file.
const BLOCK: usize = 512;

/// A message; which one, the first byte says. What can be read is written and read again.
pub(crate) fn messages(data: &[u8]) {
    let Some((which, data)) = data.split_first() else {
        return;
    };
    match which % 5 {
        0 => {
            let Ok(message) = proto::Lease::decode(data) else {
                return;
            };
            let schemes = Schemes::with(Vec::new());
            if let Ok(lease) = wire::lease(message, &schemes) {
                let again = wire::lease(wire::from_lease(&lease), &schemes);
                let again = again.expect("what was read can be written");
                assert_eq!(
                    (again.id, again.games, again.bots),
                    (lease.id, lease.games, lease.bots)
                );
            }
        }
        1 => {
            if let Ok(message) = proto::GiveBackRequest::decode(data)
                && let Ok(session) = wire::session(&message.session)
                && let Ok(give_back) = wire::give_back(message)
            {
                let again = wire::give_back(wire::from_give_back(session, &give_back));
                assert_eq!(again.expect("what was read can be written"), give_back);
            }
        }
        2 => {
            if let Ok(message) = proto::LiveUpdate::decode(data) {
                let _ = wire::live(message);
            }
        }
        3 => {
            if let Ok(message) = proto::Renew::decode(data) {
                let _ = wire::duration(message.delay, "delay");
                for lease in message.leases {
                    let _ = wire::lease_id(Some(lease));
                }
            }
        }
        _ => {
            if let Ok(message) = proto::Join::decode(data) {
                let _ = wire::session(&message.session);
                let machine = message.machine.unwrap_or_default();
                let rules = message.version.unwrap_or_default().rules;
                let _ = wire::machine(machine, rules.into_keys());
            }
        }
    }
}

/// A bot's archive as a tar file. Its headers get the sums that they should have, and it is the
/// archive that was asked for, so that everything else is looked at. Nothing may be written
/// beside its folder.
pub(crate) fn archives(data: &[u8]) {
    let mut tar = data.to_vec();
    for block in tar.chunks_exact_mut(BLOCK) {
        if &block[257..262] == b"ustar" {
            block[148..156].fill(b' ');
            let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
    let hash = ArchiveHash::new(Sha256::digest(&tar).into());
    let packed = zstd::encode_all(&tar[..], 1).expect("zstd packs whatever it is given");
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().join("bot");
    let unpacked = unpack_archive(&packed, &hash, &into);
    let there = fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(there, usize::from(unpacked.is_ok()), "{unpacked:?}");
}
