"""The answer in the events of a task, wherever a server puts it."""

from collections.abc import Collection
from typing import Any, Final

from a2a.types import a2a_pb2 as pb

from concord.a2a.errors import RemoteError
from concord.a2a.json_values import object_of
from concord.a2a.messages import Answer, TaskState, TaskUpdate, data_of, state_of, texts_of


class AnswerReader:
    """Accumulates the events of one task into its answer."""

    def __init__(self) -> None:
        self._task = pb.Task()
        self._message: pb.Message | None = None
        self.progress: Final = set[str]()
        """The ids of messages that told of work under way."""

    def read(self, event: pb.StreamResponse) -> TaskUpdate | None:
        """Takes one event; returns an update if the event changes the task's state."""
        if event.HasField("message"):
            self._message = event.message
            return None
        if event.HasField("task"):
            self._task.CopyFrom(event.task)
            return self._update()
        if event.HasField("status_update"):
            self._task.id = event.status_update.task_id
            self._task.context_id = event.status_update.context_id
            self._task.status.CopyFrom(event.status_update.status)
            return self._update()
        self._add(event.artifact_update)
        return None

    def answer(self) -> Answer:
        """The answer at the end of the stream. Raises RemoteError if there was none."""
        if self._message is not None:
            return _bare(self._message)
        if not self._task.id:
            raise RemoteError("the agent sent neither a task nor a message")
        return answer_of(self._task, self.progress)

    def _update(self) -> TaskUpdate:
        status = self._task.status
        if not state_of(status.state).terminal:
            self.progress.add(status.message.message_id)
        parts = status.message.parts
        return TaskUpdate(state_of(status.state), self._task.id, "\n".join(texts_of(parts)), data_of(parts))

    def _add(self, update: pb.TaskArtifactUpdateEvent) -> None:
        known = {artifact.artifact_id: artifact for artifact in self._task.artifacts}
        if update.append and (artifact := known.get(update.artifact.artifact_id)) is not None:
            artifact.parts.extend(update.artifact.parts)
        elif (artifact := known.get(update.artifact.artifact_id)) is not None:
            artifact.CopyFrom(update.artifact)
        else:
            self._task.artifacts.append(update.artifact)


def _bare(message: pb.Message) -> Answer:
    said = texts_of(message.parts)
    return Answer(
        state=TaskState.COMPLETED,
        text="\n".join(said),
        status_text="",
        text_parts=said,
        data_parts=data_of(message.parts),
        artifacts=0,
        is_task=False,
        task_id=message.task_id,
        context_id=message.context_id,
        metadata=object_of(message.metadata),
    )


def answer_of(task: pb.Task, progress: Collection[str] = ()) -> Answer:
    """The answer in a task. `progress`: the ids of messages in its history that are no answer."""
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    if not parts and not task.status.message.parts:
        parts = _last_words(task, progress)
    status_text = "\n".join(texts_of(task.status.message.parts))
    metadata: dict[str, Any] = {}
    for source in (task.metadata, task.status.message.metadata, *(a.metadata for a in task.artifacts)):
        metadata |= object_of(source)
    return Answer(
        state=state_of(task.status.state),
        text="\n".join(texts_of(parts)) or status_text,
        status_text=status_text,
        text_parts=texts_of(parts),
        data_parts=data_of(parts),
        artifacts=len(task.artifacts),
        is_task=True,
        task_id=task.id,
        context_id=task.context_id,
        metadata=metadata,
        status_data=data_of(task.status.message.parts),
    )


def _last_words(task: pb.Task, progress: Collection[str]) -> list[pb.Part]:
    """The last message of the agent in a task's history, where some servers put their answers."""
    said = [message for message in task.history if message.role == pb.Role.ROLE_AGENT]
    kept = [message for message in said if not message.message_id or message.message_id not in progress]
    return list(kept[-1].parts) if kept else []
