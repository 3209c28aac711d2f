//! Measures durable charges per second, on an empty database and with a long history.
//!
//! `cargo run --release -p bench --bin settles -- [SECONDS] [PAST_CHARGES]` measures an empty
//! database and one with PAST_CHARGES charges, of one transfer and one usage row each. The default
//! is ten million, which takes minutes to create and 5 GB of disk in the working directory. CPU
//! time per settle is that of this process, clients included, and separately that of the store's
//! writer.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::ledger_fixture::{
    OWNERS, build_payer, chat_charge, open_ledger, owner_id, prepare_database,
};
use bench::process::OwnTime;
use bench::samples::DurationSamples;
use ledger::Ledger;
use ledger_core::HoldRange;
use moment::{Clock, SystemClock, Timestamp};
use money::Nano;
use store::Store;
use store::usage::{DayRange, PageRequest, UsageFilter, UsageOrder};

const CLIENTS: [usize; 6] = [1, 16, 64, 256, 1024, 4096];

/// The kernel's name of the store's writer thread.
const WRITER: &str = "store-writer";

const QUESTIONS: usize = 50;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        arguments.next().and_then(|argument| argument.parse().ok()).unwrap_or(default)
    };
    let (seconds, past_charges) = (number(5), number(10_000_000));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime should start");
    let mut histories = vec![0, past_charges];
    histories.dedup();
    for past in histories {
        let directory = tempfile::tempdir_in(".").expect("a directory should be made");
        let started = Instant::now();
        runtime.block_on(prepare_database(directory.path(), past));
        println!("\n{past} charges of the past, made up in {:.0?}", started.elapsed());
        runtime.block_on(measure_charges(directory.path(), Duration::from_secs(seconds)));
    }
}

async fn measure_charges(directory: &Path, span: Duration) {
    let started = Instant::now();
    let (store, ledger) = open_ledger(directory).await;
    println!("opened in {:.1?}", started.elapsed());
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12} {:>10} {:>10}",
        "clients",
        "settles/s",
        "hold p50",
        "hold p99",
        "hold p999",
        "settle p50",
        "settle p99",
        "CPU each",
        "of writer"
    );
    for clients in CLIENTS {
        let before = OwnTime::now(WRITER);
        let (mut holds, mut settles, took) = run_clients(&ledger, clients, span).await;
        let spent = OwnTime::now(WRITER).since(before);
        let count = u32::try_from(settles.len()).unwrap_or(u32::MAX).max(1);
        let rate = settles.len() as f64 / took.as_secs_f64();
        println!(
            "{clients:>8} {rate:>10.0} {:>10.2?} {:>10.2?} {:>10.1?} {:>12.1?} {:>12.1?} {:>10.1?} \
             {:>10.1?}",
            holds.permille(500),
            holds.permille(990),
            holds.permille(999),
            settles.permille(500),
            settles.permille(990),
            spent.all / count,
            spent.thread / count
        );
    }
    let reconciled = ledger.reconcile().await.expect("the books should be read");
    println!("reconcile_diff_nano {}", reconciled.difference_nano);
    time_usage_queries(&*store).await;
}

async fn run_clients(
    ledger: &Arc<Ledger>,
    clients: usize,
    span: Duration,
) -> (DurationSamples, DurationSamples, Duration) {
    let started = Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    for client in 0..clients {
        let ledger = Arc::clone(ledger);
        callers.spawn(async move { charge_for(&ledger, client, started + span).await });
    }
    let (mut holds, mut settles) = (DurationSamples::default(), DurationSamples::default());
    for (client_holds, client_settles) in callers.join_all().await {
        holds.merge(client_holds);
        settles.merge(client_settles);
    }
    (holds, settles, started.elapsed())
}

async fn charge_for(
    ledger: &Ledger,
    client: usize,
    until: Instant,
) -> (DurationSamples, DurationSamples) {
    let (mut holds, mut settles) = (DurationSamples::default(), DurationSamples::default());
    let mut number = u32::try_from(client).unwrap_or(0);
    while Instant::now() < until {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let want = HoldRange::Exactly(Nano::from_nanos(5_000_000).into());
        let charge = chat_charge(u64::from(number >> 24) + 1);
        let started = Instant::now();
        let hold = ledger.hold(build_payer((number >> 8) % OWNERS), want).expect("there is credit");
        holds.add(started.elapsed());
        let started = Instant::now();
        ledger.settle(hold, charge).await.expect("the charge should be written");
        settles.add(started.elapsed());
    }
    (holds, settles)
}

/// Times the usage queries of owners.
async fn time_usage_queries(store: &dyn Store) {
    let today = SystemClock.now();
    let filter = |number| UsageFilter {
        owner: owner_id(number),
        currency: None,
        from: Timestamp::from_ms(today.ms() - 80 * 86_400_000 - 1234),
        until: today,
    };
    let page = |skip| PageRequest { order: UsageOrder::NewestFirst, skip, size: 200 };
    let days = DayRange { first: today.unix_day() - 89, last: today.unix_day() };
    let (mut first, mut deep, mut next, mut sums) = (
        DurationSamples::default(),
        DurationSamples::default(),
        DurationSamples::default(),
        DurationSamples::default(),
    );
    for number in 0..u32::try_from(QUESTIONS).unwrap_or(0) {
        let started = Instant::now();
        let found = store.usage_page(filter(number), page(0)).await.expect("asked");
        first.add(started.elapsed());
        let started = Instant::now();
        store.usage_page(filter(number), page(found.total * 9 / 10)).await.expect("asked");
        deep.add(started.elapsed());
        let started = Instant::now();
        store.usage_after(filter(number), None, 1000).await.expect("asked");
        next.add(started.elapsed());
        let started = Instant::now();
        store.usage_by_model(owner_id(number), days).await.expect("asked");
        sums.add(started.elapsed());
    }
    println!(
        "usage p99: first page {:.1?}, deep page {:.1?}, history {:.1?}, analytics {:.1?}",
        first.permille(990),
        deep.permille(990),
        next.permille(990),
        sums.permille(990)
    );
}
