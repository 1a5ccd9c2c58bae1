//! The messages on the wire and, with the feature `grpc`, the service stubs. Generated from the
//! `.proto` files beside this crate, a module a package: [`arena::v1`] is the envelope that all
//! games share and the services of referee and arena, `games::<game>::v1` a game's own. No logic.

#[cfg(feature = "grpc")]
pub mod codec;
#[cfg(feature = "grpc")]
pub mod opaque;

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::large_enum_variant,
    reason = "generated; the .proto files document it"
)]
mod packages {
    include!(concat!(env!("OUT_DIR"), "/packages.rs"));
}

pub use packages::{arena, games};

/// Every .proto file as an encoded `google.protobuf.FileDescriptorSet`, for
/// server reflection and for the check of the envelope.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
