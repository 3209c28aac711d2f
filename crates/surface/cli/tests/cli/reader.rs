//! Tests of the reader processes: their abilities, their sandbox and their limits.

use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pictures::{
    ImageBounds, ImageEncoding, ImageFileFormat, ImageOperations, PixelSize, ResizeMode,
};
use sandbox::tasks::{document, page, picture, probe};
use sandbox::{CallerId, ChildCommand, ProcessReader, ReaderError, run_task};
use tokio::runtime::{Builder, Runtime};

const ANN: CallerId = CallerId(1);
/// Far longer than any operation takes; reached only if something hangs.
const PATIENCE: Duration = Duration::from_secs(30);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn reader() -> ProcessReader {
    let path = env!("CARGO_BIN_EXE_gateway").into();
    ProcessReader::new(ChildCommand { path, arguments: vec!["reader".into()] }, NonZeroUsize::MIN)
}

async fn try_to(
    reader: &ProcessReader,
    what: probe::ConfinementProbe,
) -> Result<probe::ProbeOutcome, ReaderError> {
    run_task(reader, ANN, what, Vec::new().into()).await.map(|(outcome, _)| outcome)
}

async fn read(reader: &ProcessReader, text: &str) -> Result<String, String> {
    read_for(reader, ANN, text).await
}

async fn read_for(reader: &ProcessReader, caller: CallerId, text: &str) -> Result<String, String> {
    let request = document::DocumentTask::default();
    let (outcome, bytes) = run_task(reader, caller, request, text.to_owned().into()).await.unwrap();
    outcome.combine_with(&bytes)
}

/// Returns the running child processes.
fn children() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let ids: Vec<String> =
        lists.flat_map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    let is_running = |id: &String| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.starts_with('Z') && !rest.is_empty())
    };
    ids.into_iter().filter(is_running).collect()
}

/// Returns one memory field of `/proc/<pid>/status`, in kilobytes; None if the process has ended.
fn memory_kb(process: &str, kind: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(kind))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Samples the peak memory of child processes. A reader may end as soon as it has answered, so its
/// memory cannot be read afterwards.
struct PeakSampler {
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl PeakSampler {
    fn start() -> PeakSampler {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        let thread = std::thread::spawn(move || {
            let mut peak_kb = 0;
            while !stopped.load(Ordering::SeqCst) {
                let peaks = children().into_iter().filter_map(|it| memory_kb(&it, "VmHWM:"));
                peak_kb = peaks.fold(peak_kb, u64::max);
                std::thread::yield_now();
            }
            peak_kb
        });
        PeakSampler { is_stopped, thread }
    }

    /// The largest peak in kilobytes.
    fn stop(self) -> u64 {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.thread.join().unwrap()
    }
}

/// Returns the CPU time of child processes that have ended and were waited for.
fn cpu_of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks = fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}

/// Returns a PDF of nested forms, each of which draws the next one many times.
fn slow_document() -> Vec<u8> {
    const LEVELS: usize = 9;
    let mut file = b"%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n\
        2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n\
        3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources \
        <</XObject<</X 4 0 R>>>>>> endobj\n"
        .to_vec();
    for level in 4..4 + LEVELS {
        let content = "/X Do ".repeat(12);
        file.extend(
            format!(
                "{level} 0 obj <</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length {}/Resources \
                 <</XObject<</X {} 0 R>>>>>> stream\n{content}\nendstream endobj\n",
                content.len(),
                level + 1
            )
            .bytes(),
        );
    }
    file.extend(b"trailer <</Root 1 0 R>>\nstartxref\n0\n%%EOF\n");
    file
}

/// Returns a small PNG with a compressed colour profile of `bytes` bytes.
fn with_profile(bytes: usize) -> Vec<u8> {
    const AFTER_HEAD: usize = 33;
    let mut packer = ZlibEncoder::new(b"iCCPname\0\0".to_vec(), Compression::fast());
    for _ in 0..bytes >> 20 {
        packer.write_all(&[0; 1 << 20]).unwrap();
    }
    let chunk = packer.finish().unwrap();
    let mut sum = flate2::Crc::new();
    sum.update(&chunk);
    let length = u32::try_from(chunk.len() - 4).unwrap();
    let size = PixelSize { width: 64, height: 64 };
    let mut file = pictures::encode_black_image(size, ImageFileFormat::Png).unwrap().file;
    let rest = file.split_off(AFTER_HEAD);
    [file, length.to_be_bytes().to_vec(), chunk, sum.sum().to_be_bytes().to_vec(), rest].concat()
}

/// Returns an order that re-encodes an image without changes.
fn small_picture() -> ImageOperations {
    ImageOperations {
        bounds: ImageBounds { pixels_min: 1, pixels_max: 1_000_000, side_min: 1 },
        is_strict: true,
        resize: None,
        blur: false,
        mark: None,
        write: ImageEncoding::As(ImageFileFormat::Png),
        facts: None,
    }
}

#[test]
fn a_document_is_read_in_a_small_process_that_is_used_again() {
    runtime().block_on(async {
        let reader = reader();
        assert_eq!(read(&reader, "first").await.as_deref(), Ok("first"));
        let before = children();
        assert_eq!(read(&reader, "second").await.as_deref(), Ok("second"));
        assert_eq!((before.len(), &before), (1, &children()));
        let own_kb = memory_kb(&before[0], "RssAnon:").unwrap();
        // A debug build has twice as many relocations.
        let own_kb_max = if cfg!(debug_assertions) { 20_000 } else { 10_000 };
        assert!(own_kb < own_kb_max, "an idle reader holds {own_kb} kB");
        let started = Instant::now();
        for _ in 0..20 {
            read(&reader, "again").await.unwrap();
        }
        println!("a call takes {:?}, an idle reader {own_kb} kB", started.elapsed() / 20);
    });
}

#[test]
fn pictures_and_pages_are_read_there_too() {
    runtime().block_on(async {
        let reader = reader();
        let black = PixelSize { width: 4000, height: 3000 };
        let file = pictures::encode_black_image(black, ImageFileFormat::Jpeg).unwrap().file;
        let order = ImageOperations {
            bounds: ImageBounds { pixels_min: 1, pixels_max: 12_000_000, side_min: 1 },
            is_strict: true,
            resize: Some(ResizeMode::To(PixelSize { width: 400, height: 300 })),
            blur: false,
            mark: Some("made here".to_owned()),
            write: ImageEncoding::As(ImageFileFormat::Webp),
            facts: None,
        };
        let request = picture::ImageTask { order };
        let (written, bytes) = run_task(&reader, ANN, request, file.into()).await.unwrap();
        let outcome = written.unwrap().combine_with(bytes);
        assert_eq!((outcome.size.width, outcome.format), (400, ImageFileFormat::Webp));
        assert_eq!(pictures::inspect_image(&outcome.file).unwrap().size, outcome.size);

        let html = "<title>Ferry</title><article><p>It leaves at seven.</p></article>";
        let request =
            page::PageTask { content_type: None, address: "https://a.example/".to_owned() };
        let (content, bytes) = run_task(&reader, ANN, request, html.into()).await.unwrap();
        let page = content.unwrap().combine_with(&bytes);
        assert_eq!((&*page.title, &*page.markdown), ("Ferry", "# Ferry\n\nIt leaves at seven."));
    });
}

#[test]
fn a_reader_has_no_files_no_network_no_programs_and_no_environment() {
    runtime().block_on(async {
        let reader = reader();
        for what in [
            probe::ConfinementProbe::OpenFile,
            probe::ConfinementProbe::OpenSocket,
            probe::ConfinementProbe::StartProgram,
        ] {
            let outcome = try_to(&reader, what).await;
            assert_eq!(outcome, Ok(probe::ProbeOutcome::Refused), "{what:?}");
        }
        let outcome = try_to(&reader, probe::ConfinementProbe::LookAround).await;
        assert_eq!(outcome, Ok(probe::ProbeOutcome::Count(0)));
    });
}

#[test]
fn a_job_that_takes_too_much_is_ended_and_the_next_one_is_done() {
    runtime().block_on(async {
        let reader = reader();
        let little = probe::ConfinementProbe::TakeMemory(16 << 20);
        assert_eq!(try_to(&reader, little).await, Ok(probe::ProbeOutcome::Done));
        for what in [probe::ConfinementProbe::TakeMemory(1 << 30), probe::ConfinementProbe::Compute]
        {
            let outcome = try_to(&reader, what).await;
            assert!(matches!(outcome, Err(ReaderError::TooMuch { .. })), "{what:?}: {outcome:?}");
        }
        let outcome = try_to(&reader, probe::ConfinementProbe::Panic).await;
        assert!(matches!(outcome, Err(ReaderError::Unavailable { .. })), "{outcome:?}");
        assert_eq!(read(&reader, "after all").await.as_deref(), Ok("after all"));
    });
}

#[test]
fn a_reader_has_neither_root_nor_capabilities() {
    runtime().block_on(async {
        let reader = reader();
        read(&reader, "text").await.unwrap();
        let status = fs::read_to_string(format!("/proc/{}/status", children()[0])).unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        for users in ["Uid:", "Gid:"] {
            assert!(field(users).iter().all(|it| it != "0"), "{users} {:?}", field(users));
        }
        for sets in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(field(sets), ["0000000000000000"], "{sets}");
        }
        if rustix::process::getuid().is_root() {
            assert!(field("Groups:").is_empty(), "{:?}", field("Groups:"));
        }
    });
}

#[test]
fn each_caller_has_a_reader_that_opened_nothing_of_another() {
    runtime().block_on(async {
        let reader = reader();
        let bob = CallerId(2);
        read_for(&reader, ANN, "first").await.unwrap();
        let anns = children();
        read_for(&reader, bob, "second").await.unwrap();
        let bobs: Vec<String> = children().into_iter().filter(|it| !anns.contains(it)).collect();
        assert_eq!(bobs.len(), 1, "Bob's is a new one");
        read_for(&reader, bob, "third").await.unwrap();
        assert!(children().contains(&bobs[0]), "Bob's is used again for Bob");
    });
}

#[test]
fn a_colour_profile_that_unpacks_to_much_takes_little() {
    runtime().block_on(async {
        let reader = reader();
        let (file, order) = (with_profile(300 << 20), small_picture());
        assert!(file.len() < 2_000_000);
        let request = picture::ImageTask { order };
        let sampler = PeakSampler::start();
        let (written, _) = run_task(&reader, ANN, request, file.into()).await.unwrap();
        assert!(written.is_ok(), "the picture is read without its profile: {written:?}");
        let peak_kb = sampler.stop();
        assert!(0 < peak_kb, "no reader was seen");
        println!("a profile of 300 MB took the reader to {peak_kb} kB");
        assert!(peak_kb < 150_000, "{peak_kb} kB");
    });
}

#[test]
fn a_document_computes_for_two_seconds_at_most() {
    runtime().block_on(async {
        let reader = reader();
        let before = cpu_of_children();
        let request = document::DocumentTask::default();
        let read = run_task(&reader, ANN, request, slow_document().into()).await;
        assert!(matches!(read, Err(ReaderError::TooMuch { .. })), "{read:?}");
        drop(reader);
        let started = Instant::now();
        while !children().is_empty() {
            assert!(started.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let took = cpu_of_children() - before;
        println!("the document took {took:?} of processor time");
        assert!(took < Duration::from_millis(2_300), "{took:?}");
    });
}

#[test]
fn a_job_ends_with_whoever_asked_for_it() {
    runtime().block_on(async {
        let reader = reader();
        let mut asked = Box::pin(try_to(&reader, probe::ConfinementProbe::Compute));
        // Polled until a computing process exists.
        let started = Instant::now();
        while children().is_empty() {
            assert!(started.elapsed() < PATIENCE);
            let _ = tokio::time::timeout(Duration::from_millis(10), &mut asked).await;
        }
        drop(asked);
        while !children().is_empty() {
            assert!(started.elapsed() < PATIENCE, "{:?} still run", children());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}
