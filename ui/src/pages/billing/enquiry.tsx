import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';

/** Asks for what no plan has: more volume, a contract, an answer to a question. */
export function Enquiry({ company }: { readonly company: string }) {
  const { user } = useSession();
  const [sentFrom, setSentFrom] = useState<string>();
  const form = useForm({
    defaultValues: { name: user.name, email: user.email, company, message: '', website: '' },
  });
  const { errors } = form.formState;
  const ask = useSend('post', '/public/business-leads', { showsError: true });
  const submit = form.handleSubmit(async (body) => {
    try {
      await ask.sendAsync({ body });
      setSentFrom(body.email);
      form.resetField('message');
    } catch (error) {
      showFaults(form, error);
    }
  });
  return (
    <Section
      title="Something larger?"
      description="More than the plans hold, an invoice by the year, or a question before you decide: write to us."
      boxed
    >
      {sentFrom === undefined ? (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <div className="grid gap-4 lg:grid-cols-3">
            <Field label="Your name" error={errors.name?.message}>
              <Input {...form.register('name')} autoComplete="name" />
            </Field>
            <Field label="E-mail address" error={errors.email?.message}>
              <Input {...form.register('email')} autoComplete="email" inputMode="email" />
            </Field>
            <Field label="Company" error={errors.company?.message}>
              <Input {...form.register('company')} autoComplete="organization" />
            </Field>
          </div>
          <Field label="What do you need?" error={errors.message?.message}>
            <Textarea {...form.register('message')} rows={5} maxLength={5_000} />
          </Field>
          {/* People neither see nor reach it, so only a robot fills it in. */}
          <input
            {...form.register('website')}
            type="text"
            hidden
            tabIndex={-1}
            autoComplete="off"
            aria-hidden
          />
          <FormError message={errors.root?.message} />
          <div>
            <Button type="submit" busy={ask.isSending}>
              Send the enquiry
            </Button>
          </div>
        </form>
      ) : (
        <Notice tone="good">
          <span className="grow">Sent. We will answer to {sentFrom}.</span>
          <Button size="sm" onClick={() => setSentFrom(undefined)}>
            Write again
          </Button>
        </Notice>
      )}
    </Section>
  );
}
