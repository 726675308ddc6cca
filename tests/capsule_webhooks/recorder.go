// Capsule's webhooks for rules, GlobalResourceQuotas, and what a Tenant says of classes, registries, pull policies,
// Services, Ingresses, Gateways, devices, volumes and numbers of objects, and the
// controller of GlobalResourceQuotas, as Capsule 0.14.0 has them.
//
// It has to be built inside Capsule's module, since it uses packages that are internal there: record.py copies it in.
// It serves on loopback, prints the certificate to trust on one line, and ends when standard input closes.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	capsulev1beta2 "github.com/projectcapsule/capsule/api/v1beta2"
	"github.com/projectcapsule/capsule/internal/cache"
	"github.com/projectcapsule/capsule/internal/controllers/globalresourcequotas"
	"github.com/projectcapsule/capsule/internal/controllers/utils"
	"github.com/projectcapsule/capsule/internal/webhook"
	"github.com/projectcapsule/capsule/internal/webhook/defaults"
	"github.com/projectcapsule/capsule/internal/webhook/dra"
	"github.com/projectcapsule/capsule/internal/webhook/gateway"
	"github.com/projectcapsule/capsule/internal/webhook/generic"
	grqwebhook "github.com/projectcapsule/capsule/internal/webhook/globalresourcequota"
	"github.com/projectcapsule/capsule/internal/webhook/ingress"
	namespaces "github.com/projectcapsule/capsule/internal/webhook/namespace/validation"
	"github.com/projectcapsule/capsule/internal/webhook/pod"
	"github.com/projectcapsule/capsule/internal/webhook/pvc"
	"github.com/projectcapsule/capsule/internal/webhook/route"
	"github.com/projectcapsule/capsule/internal/webhook/rules/generic/mutation"
	"github.com/projectcapsule/capsule/internal/webhook/rules/generic/validation"
	"github.com/projectcapsule/capsule/internal/webhook/service"
	podrules "github.com/projectcapsule/capsule/internal/webhook/rules/pods/validation"
	"github.com/projectcapsule/capsule/pkg/runtime/configuration"
	"github.com/projectcapsule/capsule/pkg/runtime/events"
	"github.com/projectcapsule/capsule/pkg/runtime/handlers"
	"github.com/projectcapsule/capsule/pkg/runtime/indexers"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	k8sevents "k8s.io/client-go/tools/events"
)

func main() {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true), zap.WriteTo(os.Stderr)))
	port, err := strconv.Atoi(os.Args[1])
	must(err)

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(capsulev1beta2.AddToScheme(scheme))
	utilruntime.Must(gatewayv1.Install(scheme))

	certificate, authority := selfSigned()
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = 500, 1000
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{
			Host: "127.0.0.1",
			Port: port,
			TLSOpts: []func(*tls.Config){func(config *tls.Config) {
				config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate, nil }
			}},
		}),
	})
	must(err)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	settings := configuration.NewCapsuleConfiguration(ctx, manager.GetClient(), manager.GetAPIReader(), config, "default")
	must(indexers.AddToManager(ctx, ctrl.Log, manager))
	recorder := events.NewEventRecorder(nil, ctrl.Log, manager.GetEventRecorder("recorder"), settings)
	regex := cache.NewRegexCache()
	registries := cache.NewRegistryRuleSetCache(regex)
	must(webhook.Register(manager, recorder, webhook.RegistrationOptions{},
		mutation.Register(settings),
		validation.Register(regex, settings,
			validation.ForKind(
				corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(),
				pod.Handler(settings, podrules.PodRules(regex, registries)),
				"ephemeralcontainers",
			),
		),
		route.Pod(
			pod.Handler(settings,
				pod.ImagePullPolicy(),
				pod.ContainerRegistryLegacy(settings),
				pod.PriorityClass(),
				pod.RuntimeClass(),
			),
		),
		route.PVCValidating(
			pvc.Handler(
				pvc.PersistentVolumeValidatingVolume(),
				pvc.PersistentVolumeValidatingClass(),
			),
		),
		route.PVCMutating(
			pvc.MutatingHandler(
				pvc.PersistentVolumeMutatingVolume(),
			),
		),
		route.GlobalResourceQuotaCalculation(grqwebhook.Handler()),
		route.Defaults(defaults.Handler(settings, nil)),
		route.Service(service.Handler(settings, service.Validating())),
		route.Ingress(
			ingress.Class(settings, nil), ingress.Hostnames(settings), ingress.Collision(settings), ingress.Wildcard(),
		),
		route.Gateway(gateway.Class(settings)),
		route.DeviceClass(dra.DeviceClass()),
		route.GenericCustomResources(generic.ResourceCounterHandler(manager.GetClient())),
		route.Cordoning(handlers.InCapsuleGroups(settings, generic.CordoningHandler(settings))),
		route.NamespaceValidation(
			namespaces.NamespaceHandler(settings, namespaces.CordoningHandler(settings), namespaces.QuotaHandler()),
		),
	))
	var plain k8sevents.EventRecorder = recorder
	must(globalresourcequotas.Add(ctrl.Log, manager, plain, utils.ControllerOptions{}))

	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()

	fmt.Println(authority)
	must(manager.Start(ctx))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// selfSigned returns a certificate for loopback, and its PEM text in base64.
func selfSigned() (*tls.Certificate, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "recorder"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})

	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, base64.StdEncoding.EncodeToString(text)
}
