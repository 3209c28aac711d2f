//! Serves the double of Stripe: `stripe-double [ADDRESS]`, default: `127.0.0.1:0`. Prints its URL.

use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use stripe_double::{DoubleServer, DoubleSettings};

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    // Ids of two runs differ, so a service may keep its database.
    let settings = DoubleSettings { id_prefix: format!("{:x}n", unix_now()), ..Default::default() };
    let server = DoubleServer::start(&address, settings, Arc::new(unix_now))?;
    print_url(&server.url());
    loop {
        thread::park();
    }
}

#[expect(clippy::print_stdout, reason = "the caller reads the address")]
fn print_url(url: &str) {
    println!("{url}");
}

#[expect(clippy::disallowed_methods, reason = "the program is its own clock")]
fn unix_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
