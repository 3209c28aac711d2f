//! ComfyUI for images: uploads the input images, queues the workflow with its slots filled, and
//! downloads the output.

mod server;
mod workflow;

use std::sync::Arc;

use engine::{
    CutOutRequest, EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest,
    UpscaleRequest,
};
use serde::Deserialize;
use serde_json::Value;

pub(crate) use server::{ComfyFile, ComfyServer, failure_reason};
pub use workflow::{ComfyWorkflow, WorkflowFault, WorkflowSlot};

use crate::job::{self, CancelOnDrop};
use crate::picture;
use crate::transport::bad_answer;

/// One workflow of one server.
pub(crate) struct ComfyUi {
    pub(crate) server: ComfyServer,
    pub(crate) workflow: ComfyWorkflow,
}

impl ImageEngine for ComfyUi {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let size = request.frame.size;
            let mut values = vec![
                (WorkflowSlot::Prompt, request.prompt.as_str().into()),
                (WorkflowSlot::Seed, picture::normalize_seed(request.seed).into()),
                (WorkflowSlot::Width, size.width.into()),
                (WorkflowSlot::Height, size.height.into()),
            ];
            values.extend(self.negative_prompt(request.negative_prompt.as_deref()));
            values.extend(request.steps.map(|it| (WorkflowSlot::Steps, it.into())));
            values.extend(request.cfg_scale.map(|it| (WorkflowSlot::CfgScale, it.into())));
            let strength = request.adapter_strength.map(|it| f64::from(it) / 100.0);
            values.extend(strength.map(|it| (WorkflowSlot::LoraStrength, it.into())));
            match request.style_references.as_slice() {
                [] => {}
                [style] => values.extend([
                    (WorkflowSlot::StyleImage, self.server.upload_picture(&style.picture).await?),
                    (WorkflowSlot::StyleStrength, style.strength.into()),
                ]),
                _ => {
                    let message = "This model takes one style reference.".to_owned();
                    return Err(EngineError::Rejected { message });
                }
            }
            self.run(&values).await
        })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let size = request.frame.size;
            let mut values = vec![
                (WorkflowSlot::Prompt, Value::from(request.prompt.as_str())),
                (WorkflowSlot::Seed, picture::normalize_seed(request.seed).into()),
                (WorkflowSlot::Width, size.width.into()),
                (WorkflowSlot::Height, size.height.into()),
            ];
            values.extend(self.negative_prompt(None));
            for (slot, picture) in WorkflowSlot::IMAGES.into_iter().zip(&request.pictures) {
                values.push((slot, self.server.upload_picture(picture).await?));
            }
            if let Some(mask) = &request.mask {
                values.push((WorkflowSlot::Mask, self.server.upload_picture(mask).await?));
            }
            self.run(&values).await
        })
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let mut values = vec![
                (WorkflowSlot::Image, self.server.upload_picture(&request.picture).await?),
                (WorkflowSlot::Scale, request.scale.into()),
                (WorkflowSlot::Width, request.size.width.into()),
                (WorkflowSlot::Height, request.size.height.into()),
                (WorkflowSlot::Prompt, request.prompt.as_deref().unwrap_or_default().into()),
            ];
            values.extend(request.creativity.map(|it| (WorkflowSlot::Creativity, it.into())));
            self.run(&values).await
        })
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let image = self.server.upload_picture(&request.picture).await?;
            self.run(&[(WorkflowSlot::Image, image)]).await
        })
    }

    fn takes_style_references(&self) -> bool {
        self.workflow.has_slot(WorkflowSlot::StyleImage)
    }

    fn can_be_stopped(&self) -> bool {
        true
    }
}

impl ComfyUi {
    /// Returns `None` if no negative prompt was sent and the workflow has a default.
    fn negative_prompt(&self, asked: Option<&str>) -> Option<(WorkflowSlot, Value)> {
        let has_default = self.workflow.has_default(WorkflowSlot::NegativePrompt);
        let text = asked.or((!has_default).then_some(""))?;
        Some((WorkflowSlot::NegativePrompt, text.into()))
    }

    async fn run(&self, values: &[(WorkflowSlot, Value)]) -> Result<ImageAnswer, EngineError> {
        let id = self.server.submit(self.workflow.fill_slots(values, image_field)?).await?;
        let server = self.server.clone();
        let to_stop = id.clone();
        let stop = CancelOnDrop::with(async move { server.stop(&to_stop).await });
        let made = job::poll_until_done(self.server.history.timeouts.answer, || async {
            read_output_file(&self.server.fetch_history(&id).await?, &id)
        });
        let made = made.await;
        if !matches!(made, Err(EngineError::Timeout { .. })) {
            stop.disarm();
        }
        let file = self.server.view.get_bytes(&made?.view_query()).await?;
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }
}

/// The request field that fills a slot.
fn image_field(slot: WorkflowSlot) -> &'static str {
    match slot {
        WorkflowSlot::StyleImage | WorkflowSlot::StyleStrength => "style_references",
        WorkflowSlot::Creativity => "enhanceCreativity",
        other => other.name(),
    }
}

/// The output file of a job from its history entry; `None` while the job is running. Temporary
/// previews are used only if no node saved an output file.
pub(crate) fn read_output_file(body: &[u8], id: &str) -> Result<Option<ComfyFile>, EngineError> {
    let history: Value = parse_body(body)?;
    let Some(job) = history.get(id) else { return Ok(None) };
    if job["status"]["status_str"] == "error" {
        return Err(bad_answer(format!("its workflow failed: {}", failure_reason(&job["status"]))));
    }
    let nodes = job["outputs"].as_object().into_iter().flatten();
    let files = nodes.flat_map(|(_, node)| node["images"].as_array().into_iter().flatten());
    let mut files: Vec<ComfyFile> =
        files.filter_map(|file| serde_json::from_value(file.clone()).ok()).collect();
    files.sort_by_key(|file| file.kind != "output");
    let first = files.into_iter().next();
    first.map(Some).ok_or_else(|| bad_answer("its workflow returned no image"))
}

fn parse_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("it is not JSON: {error}")))
}
