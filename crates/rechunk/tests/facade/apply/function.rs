//! Code of the caller as an operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rechunk::{
    CancellationToken, Class, CopyRequest, Error, Existing, Format, Function, FunctionCall, Job,
    Mode, NullObserver, OpOutput, OperationRequest, Pads, SavedJob, Stores,
};

use super::case::{Case, Level, run, running};
use super::reference::Op;
use super::volume::{Kind, Volume, positions};

/// Medians of 3 × 3 elements of a plane; windows end at the nearest element.
fn medians(bytes: &[u8], shape: &[u64]) -> Vec<u8> {
    let [height, width] = [shape[0], shape[1]].map(|extent| usize::try_from(extent).unwrap());
    let at = |y: usize, x: usize| {
        let place = 2 * (y.min(height - 1) * width + x.min(width - 1));
        u16::from_ne_bytes(bytes[place..place + 2].try_into().unwrap())
    };
    let mut results = Vec::with_capacity(bytes.len());
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let near = |at: usize| [at.saturating_sub(1), at, at + 1];
        let mut window: Vec<u16> =
            near(y).into_iter().flat_map(|y| near(x).map(|x| at(y, x))).collect();
        window.sort_unstable();
        results.extend(window[4].to_ne_bytes());
    }
    results
}

/// The part of a plane without its pads.
fn cropped(bytes: &[u8], call: &FunctionCall) -> Vec<u8> {
    let size = |number: u64| 2 * usize::try_from(number).unwrap();
    let (whole, kept) = (call.padded_shape(), call.cropped_shape());
    let (row, start) = (size(whole[1]), size(call.pads[1].0));
    let rows = bytes.chunks(row).skip(usize::try_from(call.pads[0].0).unwrap());
    let rows = rows.take(usize::try_from(kept[0]).unwrap());
    rows.flat_map(|row| row[start..start + size(kept[1])].to_vec()).collect()
}

fn median(name: &str, is_cropped: bool) -> Function {
    let mut function = Function::new(name, move |call| {
        let results = medians(&call.inputs[0].bytes, &call.inputs[0].shape);
        Ok(if is_cropped {
            OpOutput::Cropped(cropped(&results, &call))
        } else {
            OpOutput::Padded(results)
        })
    });
    function.halo = Some(Pads::All(1));
    function
}

/// Direct, by blocks, and by levels that overlap.
fn cases() -> [Case; 3] {
    let plane = || Volume::new(Kind::U16, &[24, 36], &[7, 9]);
    let level = || Level::new(&[8, 6]).auto_crop();
    let direct = Case::new(plane(), Op::Median(3), vec![level()]);
    let cut = Case::new(plane(), Op::Median(3), vec![level()]);
    let levels = vec![
        Level::new(&[5, 13]).auto_crop().blend(&[1, 2], Mode::Linear),
        Level::new(&[6, 9]).blend(&[2, 2], Mode::Quadratic),
    ];
    [
        direct.to(Format::Zarr3, &[8, 6]),
        Case { region: Some(vec![(3, 20), (1, 32)]), ..cut.to(Format::Zarr2, &[5, 7]) },
        Case::new(plane(), Op::Median(3), levels).to(Format::N5, &[4, 6]),
    ]
}

/// The request of a case, by a function.
fn request(case: &Case, folder: &std::path::Path, function: Function) -> CopyRequest {
    let mut request = case.request(folder, "target");
    let apply = request.apply.as_mut().unwrap();
    apply.operation = OperationRequest::Function(function);
    request
}

async fn job(case: &Case, folder: &std::path::Path, function: Function) -> Result<Job, Error> {
    Job::prepare(request(case, folder, function), &Stores::default()).await
}

#[tokio::test]
async fn a_function_gives_what_an_operation_gives() {
    for (case, is_cropped) in cases().into_iter().zip([false, true, true]) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.write(folder);
        let job = job(&case, folder, median("median", is_cropped)).await.unwrap();
        assert!(job.warnings.is_empty(), "{:?}", job.warnings);
        let mut running = running(Existing::Refuse);
        running.verify = true;
        let observer = Arc::new(NullObserver);
        let report = job.run(running, observer, CancellationToken::new()).await.unwrap();
        let apply = report.apply.unwrap();
        assert_eq!((apply.op.as_str(), apply.op_calls), ("median", case.calls()));
        assert_eq!(report.verified, Some(true));
        case.check_target(folder, "target").await;
    }
}

/// A function that fails in its `last` call.
fn failing(name: &str, last: u64) -> Function {
    let calls = AtomicU64::new(0);
    let mut function = Function::new(name, move |call| {
        if calls.fetch_add(1, Ordering::Relaxed) + 1 == last {
            return Err("enough".to_owned());
        }
        Ok(OpOutput::Padded(medians(&call.inputs[0].bytes, &call.inputs[0].shape)))
    });
    function.halo = Some(Pads::All(1));
    function
}

#[tokio::test]
async fn a_run_goes_on_with_a_function_of_its_name_alone() {
    for case in cases() {
        let case = Case { threads: 1, ..case };
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.write(folder);
        let begun = job(&case, folder, failing("median", 3)).await.unwrap();
        let error = run(begun, Existing::Refuse).await.unwrap_err();
        assert!(error.is_of_operation(), "{error:?}");
        assert_eq!(error.class(), Class::Failed);
        let text = error.chain().join(": ");
        let is_named = ["`median`", "task ", ", box ", "enough"].map(|word| text.contains(word));
        assert_eq!(is_named, [true; 4], "{text}");

        let other = job(&case, folder, median("another", false)).await.unwrap();
        let error = run(other, Existing::Resume).await.unwrap_err();
        assert_eq!(error.class(), Class::Target, "{error:?}");
        assert!(error.to_string().contains("`median`, not `another`"), "{error}");
        let mut labels = median("median", false);
        labels.gives_labels = true;
        if case.levels.len() == 1 {
            let other = job(&case, folder, labels).await.unwrap();
            let error = run(other, Existing::Resume).await.unwrap_err();
            assert_eq!(error.class(), Class::Target, "{error:?}");
        }

        let report =
            run(job(&case, folder, median("median", true)).await.unwrap(), Existing::Resume);
        let report = report.await.unwrap();
        // Direct tasks of one call each: two were done.
        if case.levels.len() == 1 {
            assert_eq!(report.apply.unwrap().op_calls, case.calls() - 2);
        }
        case.check_target(folder, "target").await;
    }
}

#[tokio::test]
async fn no_file_holds_a_function() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [case, ..] = cases();
    case.write(folder);
    let saved = job(&case, folder, median("median", false)).await.unwrap().saved();
    let error = saved.to_json().unwrap_err();
    assert_eq!(error.class(), Class::Usage);
    assert!(error.to_string().contains("cannot be saved"), "{error}");
    // Another program may write one.
    let text = serde_json::to_vec(&saved).unwrap();
    let read = SavedJob::from_json("plan.json", &text).unwrap();
    let error = Job::from_saved(read, None, &Stores::default()).await.unwrap_err();
    assert!(error.to_string().contains("`median` is not here"), "{error}");
    // Where it was not written, the code is there.
    let job = Job::from_saved(saved, None, &Stores::default()).await.unwrap();
    run(job, Existing::Refuse).await.unwrap();
    case.check_target(folder, "target").await;
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [case, ..] = cases();
    case.write(folder);
    let plain = |name: &str| Function::new(name, |_| Ok(OpOutput::Padded(vec![0; 3])));
    let error = job(&case, folder, plain("f")).await.unwrap_err();
    assert!(error.to_string().contains("how far a function looks"), "{error}");
    let mut auto = plain("f");
    auto.halo = Some(Pads::Auto);
    assert!(job(&case, folder, auto).await.is_err());
    let mut wide = plain("f");
    wide.halo = Some(Pads::Each(vec![1, 1, 1]));
    let error = job(&case, folder, wide).await.unwrap_err();
    assert!(error.to_string().contains("the halo"), "{error}");
    let mut nameless = plain("");
    nameless.halo = Some(Pads::All(0));
    assert!(job(&case, folder, nameless).await.is_err());
    let mut large = plain("f");
    (large.halo, large.scratch_bytes) = (Some(Pads::All(0)), 1 << 30);
    assert_eq!(job(&case, folder, large).await.unwrap_err().class(), Class::Memory);

    let mut short = plain("f");
    short.halo = Some(Pads::All(0));
    let error = run(job(&case, folder, short).await.unwrap(), Existing::Refuse).await.unwrap_err();
    let text = error.chain().join(": ");
    assert!(text.contains("gave 3 bytes") && text.contains("8 × 6 elements of uint16"), "{text}");
}

#[tokio::test]
async fn results_of_another_type_are_cast() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plane = Volume::new(Kind::U16, &[24, 36], &[7, 9]);
    let halves = positions(&plane.shape).map(|at| Kind::U8.rounded(plane.value(&at) / 2.0));
    let halves: Vec<f64> = halves.collect();
    let case = Case::new(plane, Op::Identity, vec![Level::new(&[8, 6])]);
    let case = Case { cast: Some(Kind::U8), ..case.to(Format::Zarr3, &[8, 6]) };
    case.write(folder);
    let mut function = Function::new("halves", |call| {
        let elements = call.inputs[0].bytes.chunks(2);
        let halves =
            elements.map(|bytes| f32::from(u16::from_ne_bytes(bytes.try_into().unwrap())) / 2.0);
        Ok(OpOutput::Padded(halves.flat_map(f32::to_ne_bytes).collect()))
    });
    function.output = Some(rechunk::DataType::Float32);
    run(job(&case, folder, function).await.unwrap(), Existing::Refuse).await.unwrap();
    case.check_equal(&case.elements(folder, "target").await, &halves);
}
