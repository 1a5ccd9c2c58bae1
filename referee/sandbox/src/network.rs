//! Switches on the loopback interface of a new network namespace. Java and Node want
//! 127.0.0.1.

use std::{io, os::fd::AsRawFd as _};

use nix::{
    libc::{IFF_UP, NLM_F_ACK, NLM_F_REQUEST, RTM_NEWLINK},
    sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto,
        socket,
    },
};

/// A message of rtnetlink(7): its header (16 bytes), then an `ifinfomsg` (16 bytes).
const LENGTH: usize = 32;

/// The kernel gives the interface its addresses when it goes up.
pub(crate) fn loopback_up() -> io::Result<()> {
    let socket = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    // It is the first interface of every network namespace.
    const LOOPBACK: i32 = 1;
    let flags = u16::try_from(NLM_F_REQUEST | NLM_F_ACK).unwrap_or_default();
    let up = u32::try_from(IFF_UP).unwrap_or_default();
    let mut message = Vec::with_capacity(LENGTH);
    message.extend(u32::try_from(LENGTH).unwrap_or_default().to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes()); // sequence number
    message.extend(0_u32.to_ne_bytes()); // to the kernel
    message.extend([0; 4]); // family, padding, type
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(up.to_ne_bytes());
    message.extend(up.to_ne_bytes()); // which flags to change
    let kernel = NetlinkAddr::new(0, 0);
    sendto(socket.as_raw_fd(), &message, &kernel, MsgFlags::empty())?;

    // The acknowledgement has a header and then an error number, 0 or below.
    let mut answer = [0; 1024];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    let code: [u8; 4] = answer[..length]
        .get(16..20)
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| io::Error::other("the kernel's answer is too short"))?;
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(-code)),
    }
}
