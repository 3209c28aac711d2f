//! `DELETE /files/{file_id}`: deletes a file. Its key is destroyed before the reply.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::files::{FileDeleted, FileObjectKind, FilePath};

use super::{find_file, refuse_file, write_id};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::delete("/files/{file_id}", delete_file)
        .tag("Files")
        .summary("Delete a file")
        .refuses(404, "There is no such file")
        .refuses(409, "A batch reads the file")
        .build()
}

async fn delete_file(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<FilePath>>,
) -> Result<WithHeaders<FileDeleted>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let file = find_file(&app, &holder, &path.file_id).await?;
    app.batches.delete_file(&file).await.map_err(refuse_file)?;
    let (id, object) = (write_id(file.id), FileObjectKind::File);
    Ok(WithHeaders::new(FileDeleted { id, object, deleted: true }))
}
