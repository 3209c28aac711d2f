//! Tests the table of videos without a model: every video fails when its turn comes.

use super::*;
use crate::LocalEngineOptions;

fn videos(folder: &std::path::Path) -> Arc<VideoJobs> {
    let options = LocalEngineOptions {
        socket: folder.join("engine.sock"),
        models_dir: folder.to_owned(),
        llama_library: None,
        device: crate::TextDevice::Cpu,
        gpu_layers: None,
        cuda_dir: None,
        threads: None,
        idle_unload: None,
        memory_bytes_max: None,
    };
    Arc::new(VideoJobs::new(Arc::new(ModelRegistry::new(&options))))
}

fn order() -> VideoRenderRequest {
    VideoRenderRequest {
        prompt: "a fox".into(),
        negative_prompt: String::new(),
        seed: 1,
        seconds: 2,
        width: 256,
        height: 256,
        start: None,
    }
}

async fn until(
    videos: &VideoJobs,
    name: &str,
    is_it: impl Fn(&VideoStatus) -> bool,
) -> VideoStatus {
    loop {
        let status = videos.status(name).unwrap();
        if is_it(&status) {
            return status;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_order_is_taken_once_and_too_many_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let videos = videos(folder.path());
    let busy = videos.turn.acquire().await.unwrap();
    for number in 0..OPEN_MAX {
        let name = format!("v{number}");
        assert_eq!(videos.queue_video(&name, "m", order()), Ok(VideoStatus::Queued));
        assert_eq!(
            videos.queue_video(&name, "m", order()),
            Ok(VideoStatus::Queued),
            "the same again"
        );
    }
    let refused = videos.queue_video("one-more", "m", order()).unwrap_err().body();
    assert_eq!(refused["error"]["code"], "overloaded");
    assert_eq!(videos.status("one-more"), None);
    assert_eq!(videos.file("v0"), None);

    drop(busy);
    // All of them fail, and only the last `ENDED_MAX` are kept.
    until_ended(&videos).await;
    let kept = (0..OPEN_MAX).filter(|it| videos.status(&format!("v{it}")).is_some()).count();
    assert_eq!(kept, ENDED_MAX);
    assert_eq!(videos.queue_video("one-more", "m", order()), Ok(VideoStatus::Queued));
    let failed = until(&videos, "one-more", |it| !matches!(it, VideoStatus::Queued)).await;
    assert!(matches!(&failed, VideoStatus::Failed { message } if message.contains("no model m")));
}

async fn until_ended(videos: &VideoJobs) {
    while videos.lock().values().any(|job| job.end.is_none()) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_cancelled_is_never_begun() {
    let folder = tempfile::tempdir().unwrap();
    let videos = videos(folder.path());
    let busy = videos.turn.acquire().await.unwrap();
    videos.queue_video("v", "m", order()).unwrap();
    assert_eq!(videos.cancel("v"), Some(VideoStatus::Cancelled));
    assert_eq!(videos.cancel("w"), None);
    drop(busy);
    until_ended(&videos).await;
    assert_eq!(videos.status("v"), Some(VideoStatus::Cancelled));
    assert!(!videos.lock()["v"].progress.has_begun.load(Ordering::Acquire));
}
