//! `GET /files`: lists the caller's files.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use store::file::{FileFilter, FilePurpose};
use wire::billing::SortOrder;
use wire::files::{FileList, FileListQuery, FilePurposeName, ListKind};

use super::{parse_id, refuse_unknown, to_wire};

const LIMIT_DEFAULT: usize = 10_000;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/files", list_files)
        .tag("Files")
        .summary("List files")
        .refuses(404, "There is no such file to list from")
        .build()
}

async fn list_files(
    app: SharedApp,
    call: ApiCall<JobCollector, QueryParameters<FileListQuery>>,
) -> Result<WithHeaders<FileList>, Refusal> {
    let (JobCollector(holder), QueryParameters(query)) = (call.caller, call.input);
    let after = query.after.as_deref();
    let after = after.map(|id| parse_id(id).ok_or_else(|| refuse_unknown(id))).transpose()?;
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    let purpose = query.purpose.map(|purpose| match purpose {
        FilePurposeName::Batch => FilePurpose::Batch,
        FilePurposeName::BatchOutput => FilePurpose::BatchOutput,
    });
    let is_ascending = matches!(query.order, Some(SortOrder::Asc));
    let (owner, now) = (holder.owner.id, call.now);
    let filter = FileFilter { owner, purpose, after, is_ascending, limit, now };
    // One more tells whether there are more, where the store's own bound allows it.
    let wanted = FileFilter { limit: limit + 1, ..filter };
    let found = app.batches.list_files(wanted).await.map_err(Refusal::unavailable)?;
    let has_more = limit < found.len();
    let data: Vec<_> = found.into_iter().take(limit).map(to_wire).collect();
    Ok(WithHeaders::new(FileList {
        object: ListKind::List,
        first_id: data.first().map(|file| file.id.clone()),
        last_id: data.last().map(|file| file.id.clone()),
        has_more,
        data,
    }))
}
