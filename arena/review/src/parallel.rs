//! Work on several threads whose results come in order.

/// Does this to each item; the results are in the order of the items, whatever the number of
/// threads.
pub(crate) fn in_parallel<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.max(1);
    let mut shares: Vec<Vec<(usize, T)>> = (0..threads).map(|_| Vec::new()).collect();
    for (at, item) in items.into_iter().enumerate() {
        shares[at % threads].push((at, item));
    }
    let work = &work;
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let working: Vec<_> = shares
            .into_iter()
            .map(|share| {
                scope.spawn(move || {
                    let done = share.into_iter().map(|(at, item)| (at, work(item)));
                    done.collect::<Vec<_>>()
                })
            })
            .collect();
        let done = working.into_iter().flat_map(|thread| {
            let done = thread.join();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        done.collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
