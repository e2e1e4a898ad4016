import { MessageSquare } from 'lucide-react';
import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState, Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';

type Chat = Shape<'Chat'>;

const KINDS: Readonly<Record<Chat['kind'], string>> = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  discord: 'Discord',
  google_chat: 'Google Chat',
};

/** Shows the chats that results can be sent to, with a test for each, and adds chats. */
export function ChatsSection() {
  const chats = useRead('/v1/chats', {});
  return (
    <Section title="Chats" description="Rooms for results of routines. Each routine chooses its own chats.">
      <Await of={chats} skeleton={<SkeletonRows rows={2} />} errorTitle="The chats could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={MessageSquare} title="No chats">
              Make an incoming webhook in Slack, Microsoft Teams, Discord or Google Chat, and paste its address here.
            </EmptyState>
          ) : (
            <ul className="flex max-w-xl flex-col gap-3">
              {rows.map((chat) => (
                <ChatRow key={chat.id} chat={chat} />
              ))}
            </ul>
          )
        }
      </Await>
      <NewChat />
    </Section>
  );
}

function ChatRow({ chat: { id, name, kind, goneAt, goneReason } }: { readonly chat: Chat }) {
  const path = { chatId: id };
  const test = useSend('post', '/v1/chats/{chatId}/test', {
    done: ({ delivered }) => (delivered ? 'The test message has arrived' : 'The chat did not take the test message'),
  });
  const remove = useSend('delete', '/v1/chats/{chatId}', { refreshes: ['/v1/chats'], done: 'Chat deleted' });
  const failed = test.data?.error ?? undefined;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-surface px-3 py-2.5">
      <span className="font-medium text-ink">{name}</span>
      <span className="text-sm text-muted">{KINDS[kind]}</span>
      <span className="ml-auto flex gap-2">
        <Button size="sm" busy={test.isSending} onClick={() => test.send({ path })}>
          Send a test
        </Button>
        <Button size="sm" kind="quiet" busy={remove.isSending} onClick={() => remove.send({ path })}>
          Delete
          <span className="sr-only"> {name}</span>
        </Button>
      </span>
      {goneAt !== null && (
        <Notice tone="warn" className="w-full">
          <span className="grow">The chat refuses this address ({goneReason}), so nothing more is sent to it.</span>
          <NewAddress chatId={id} />
        </Notice>
      )}
      {failed !== undefined && <p className="w-full text-sm text-bad-ink wrap-anywhere">{failed}</p>}
    </li>
  );
}

/** Asks for another address of a chat that refuses its old one. Routines continue to send to the chat. */
function NewAddress({ chatId }: { readonly chatId: string }) {
  const [url, setUrl] = useState('');
  const change = useSend('patch', '/v1/chats/{chatId}', {
    refreshes: ['/v1/chats'],
    done: 'Results go to the new address',
    showsError: true,
  });
  return (
    <form
      className="flex w-full flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        change.send({ path: { chatId }, body: { url: url.trim() } });
      }}
    >
      <Field label="Another address" description="The address of a new incoming webhook. Routines keep this chat.">
        <Input type="url" value={url} autoComplete="off" onChange={({ target }) => setUrl(target.value)} />
      </Field>
      <FormError message={errorInWords(change.error)} />
      <div>
        <Button
          size="sm"
          type="submit"
          busy={change.isSending}
          disabledReason={url.trim() === '' ? 'Enter an address.' : undefined}
        >
          Use this address
        </Button>
      </div>
    </form>
  );
}

function NewChat() {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const add = useSend('post', '/v1/chats', { refreshes: ['/v1/chats'], done: 'Chat added', showsError: true });
  return (
    <form
      className="mt-4 flex max-w-xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void add.sendAsync({ body: { name, url: url.trim() } }).then(
          () => {
            setName('');
            setUrl('');
            return undefined;
          },
          () => undefined,
        );
      }}
    >
      <Field label="Name of the chat">
        <Input value={name} placeholder="#marketing" onChange={({ target }) => setName(target.value)} />
      </Field>
      <Field
        label="Address of its incoming webhook"
        description="Everyone who has the address can post in the chat, so the address is stored encrypted."
      >
        <Input type="url" value={url} autoComplete="off" onChange={({ target }) => setUrl(target.value)} />
      </Field>
      <FormError message={errorInWords(add.error)} />
      <div>
        <Button
          type="submit"
          busy={add.isSending}
          disabledReason={name.trim() === '' || url.trim() === '' ? 'Enter a name and an address.' : undefined}
        >
          Add chat
        </Button>
      </div>
    </form>
  );
}
