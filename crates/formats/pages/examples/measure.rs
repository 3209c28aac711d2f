//! Measures the time to read pages, and writes their Markdown.
//!
//! `cargo run --release -p pages --example measure -- FOLDER_FOR_MARKDOWN PAGE...`

#![expect(clippy::print_stdout, reason = "the numbers are what it is for")]

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ADDRESS: &str = "https://site.example.com/section/page";
/// Runs per page; the fastest is the least disturbed one.
const READINGS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("say where the Markdown is to lie")?;
    let (mut bytes_sum, mut fastest_sum, mut slowest) = (0, Duration::ZERO, Duration::ZERO);
    for path in arguments {
        let bytes = std::fs::read(&path)?;
        let mut fastest = Duration::MAX;
        let mut markdown = String::new();
        for _ in 0..READINGS {
            let begun = Instant::now();
            let html = pages::decode_html(&bytes, Some("text/html"));
            markdown =
                pages::read_page(&html, ADDRESS).map_or_else(|_| String::new(), |it| it.markdown);
            fastest = fastest.min(begun.elapsed());
        }
        let name = path.with_extension("md");
        std::fs::write(folder.join(name.file_name().ok_or("no file")?), markdown)?;
        println!(
            "{:8.2} ms  {:8} bytes  {}",
            to_milliseconds(fastest),
            bytes.len(),
            path.display()
        );
        bytes_sum += bytes.len();
        fastest_sum += fastest;
        slowest = slowest.max(fastest);
    }
    let per_100_kb = to_milliseconds(fastest_sum) * 100_000.0 / bytes_sum.max(1) as f64;
    println!("{per_100_kb:.2} ms per 100 kB, {:.2} ms at most", to_milliseconds(slowest));
    Ok(())
}

fn to_milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
