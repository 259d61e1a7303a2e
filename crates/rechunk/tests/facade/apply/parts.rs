//! Plans that are saved and run later, as a whole and in parts by many processes.

use std::sync::Arc;
use std::time::Duration;

use rechunk::{
    CancellationToken, Class, Existing, Format, Job, Mode, NullObserver, SavedJob, StagePart,
    Stores,
};

use super::case::{Case, Level, run, running};
use super::reference::Op;
use super::volume::{Kind, Volume};

fn cases() -> [Case; 3] {
    let plane = || Volume::new(Kind::F32, &[24, 36], &[7, 9]);
    let direct = Case::new(plane(), Op::Median(3), vec![Level::new(&[8, 6]).auto_crop()]);
    let cut = Case::new(plane(), Op::Median(3), vec![Level::new(&[5, 7]).auto_crop()]);
    let levels = vec![
        Level::new(&[4, 6]).blend(&[1, 2], Mode::Linear),
        Level::new(&[6, 12]).crop(&[1, 0]).blend(&[2, 3], Mode::Quadratic),
    ];
    let mut masked = Case::new(plane(), Op::Mask, levels);
    masked.sources.push(Volume::new(Kind::U8, &[24, 36], &[24, 5]));
    [
        direct.to(Format::Zarr3, &[8, 6]),
        Case { region: Some(vec![(3, 20), (1, 32)]), ..cut },
        masked.to(Format::N5, &[8, 10]),
    ]
}

/// The plan, by way of its file.
async fn saved(case: &Case, folder: &std::path::Path) -> SavedJob {
    let bytes = case.job(folder, "target").await.unwrap().saved().to_json().unwrap();
    SavedJob::from_json("plan.json", &bytes).unwrap()
}

#[tokio::test]
async fn a_saved_plan_gives_the_same_result() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        case.write(folder.path());
        let plan = saved(&case, folder.path()).await;
        let job = Job::from_saved(plan, None, &Stores::default()).await.unwrap();
        let report = run(job, Existing::Refuse).await.unwrap();
        assert_eq!(report.apply.unwrap().op_calls, case.calls());
        case.check_target(folder.path(), "target").await;
    }
}

#[tokio::test]
async fn parts_give_the_same_result() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        case.write(folder.path());
        let plan = saved(&case, folder.path()).await;
        let open = || async { Job::from_saved(plan.clone(), None, &Stores::default()).await };
        let running = running(Existing::Refuse);
        let report = open().await.unwrap().begin_parts(running).await.unwrap();
        assert!(report.begun);
        let stages = plan.plan.stages.len();
        let part = async |stage: usize, part: &str| {
            let share: StagePart = part.parse().unwrap();
            let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
            let job = open().await.unwrap();
            job.run_part((stage, share), running, Duration::ZERO, observer, cancel).await
        };
        if stages > 1 {
            let error = part(1, "0/2").await.unwrap_err();
            assert_eq!(error.class(), Class::NotYet, "{error:?}");
        }
        for stage in 0..stages {
            for share in ["1/3", "0/3", "2/3", "0/3"] {
                let done = part(stage, share).await.unwrap();
                assert_eq!(done.tasks.marked, done.tasks.total);
            }
        }
        let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
        let job = open().await.unwrap();
        let finished = job.finish_parts(running, Duration::ZERO, observer, cancel);
        let report = Box::pin(finished).await.unwrap();
        assert_eq!(report.apply.unwrap().op_calls, 0);
        case.check_target(folder.path(), "target").await;
        assert!(!folder.path().join("target.rechunk").exists());
    }
}
